package control

import (
	"catena/engine"
	"catena/storage"
)

var runOperation = engine.Op{
	Name:     "RunOperation",
	Aliases:  []string{"Context.RunOperation"},
	Label:    "Run Chain",
	Category: "Execution Flow",
	Doc:      "Runs an operation or chain on the input, discards its result and returns the input.",
	Callers:  engine.Anyone,
	Run:      engine.On(runOperationParams.run),
}

type runOperationParams struct {
	ID      string        `json:"id" names:"operation" doc:"Name of the operation or chain."`
	Isolate bool          `json:"isolate" default:"false" doc:"Use a copy of the context variables."`
	Params  storage.Props `json:"parameters,omitzero" doc:"Parameters of the operation or chain."`
}

func (p runOperationParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	_, err := inner{id: p.ID, params: p.Params, isolate: p.Isolate}.run(c, c.Input)
	return engine.Void{}, err
}
