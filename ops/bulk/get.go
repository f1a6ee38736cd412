package bulk

import (
	"catena/engine"
)

var get = engine.Op{
	Name:     "Bulk.Get",
	Label:    "Get a Bulk Command",
	Category: "Services",
	Doc:      "Says how far a bulk command of one's own is; administrators see everybody's. It is kept for a week.",
	Effect:   engine.Reads,
	Run:      engine.On(getParams.run).As("void", "bulkstatus"),
}

type getParams struct {
	ID   string `json:"commandId" doc:"Identifier of the command."`
	Base string `json:"base,omitzero" doc:"Address of the server, for the one of a file the command has made."`
}

func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	cmd, err := find(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	return cmd.shown(p.Base), nil
}
