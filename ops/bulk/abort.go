package bulk

import (
	"catena/engine"
	"catena/engine/openapi"
)

var abort = engine.Op{
	Name:     "Bulk.Abort",
	Label:    "Abort a Bulk Command",
	Category: "Services",
	Doc:      "Aborts one of the caller's bulk commands; completed changes are kept. A finished command is left unchanged.",
	Callers:  engine.Anyone,
	Result:   openapi.Ref("BulkStatus"),
	Run:      engine.On(abortParams.run).As("void", "bulkstatus"),
}

type abortParams struct {
	ID string `json:"commandId" doc:"Identifier of the command."`
}

func (p abortParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	cmd, err := find(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	// Setting the state is all: the worker looks at it in the transaction of each batch, so a batch
	// that is under way either commits before this one or conflicts with it and then finds the
	// command ended.
	if !cmd.over() {
		cmd.State, cmd.Done = aborted, c.Now
		if err := cmd.put(c.Tx); err != nil {
			return nil, err
		}
	}
	return cmd.shown(""), nil
}
