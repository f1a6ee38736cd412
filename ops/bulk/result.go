package bulk

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

var result = engine.Op{
	Name:     "Bulk.Result",
	Label:    "Get the Result of a Bulk Command",
	Category: "Services",
	Doc:      "Returns the file produced by one of the caller's bulk commands, for example csvExport. It is kept for a week.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(resultParams.run),
}

type resultParams struct {
	ID string `json:"commandId" doc:"Identifier of the command."`
}

func (p resultParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	cmd, err := find(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	if cmd.File == nil {
		return nil, fault.NotFound.Errorf("bulk command %s: has no file", p.ID)
	}
	// The file belongs to no document; the command holds its content until it is forgotten
	// (worker.forget).
	return hold.Load(c.Tx, *cmd.File), nil
}
