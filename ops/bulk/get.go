package bulk

import (
	"catena/engine"
	"catena/engine/openapi"
)

var get = engine.Op{
	Name:     "Bulk.Get",
	Label:    "Get a Bulk Command",
	Category: "Services",
	Doc:      "Returns the progress of one of the caller's bulk commands; administrators see those of all users. It is kept for a week.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BulkStatus"),
	Run:      engine.On(getParams.run).As("void", "bulkstatus"),
}

type getParams struct {
	ID   string `json:"commandId" doc:"Identifier of the command."`
	Base string `json:"base,omitzero" doc:"Address of the server, for the address of a file the command produced."`
}

func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	cmd, err := find(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	return cmd.shown(p.Base), nil
}
