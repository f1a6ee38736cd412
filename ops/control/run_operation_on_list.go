package control

import (
	"catena/engine"
	"catena/storage"
)

var runOperationOnList = engine.Op{
	Name:     "RunOperationOnList",
	Aliases:  []string{"Context.RunOperationOnList"},
	Label:    "Run For Each",
	Category: "Execution Flow",
	Doc: "Runs an operation or chain on the input once for every item of the list in a context variable and keeps the input. " +
		"With newTx each run has a savepoint of the call's transaction: a run that fails leaves nothing, and without " +
		"rollbackGlobalOnError the others go on.",
	Run: engine.On(runOnListParams.run),
}

type runOnListParams struct {
	ID       string        `json:"id" doc:"Name of the operation or chain."`
	List     string        `json:"list" doc:"Name of the variable that holds the list."`
	Isolate  bool          `json:"isolate" default:"true" doc:"Work on a copy of the context variables."`
	Item     string        `json:"item" default:"item" doc:"Name of the variable for the item at hand."`
	NewTx    bool          `json:"newTx" default:"false" doc:"Give each run a savepoint."`
	Params   storage.Props `json:"parameters,omitzero" doc:"Parameters of what runs."`
	Rollback bool          `json:"rollbackGlobalOnError" default:"true" doc:"A failure within a savepoint ends the call."`
	Timeout  int           `json:"timeout" default:"60" doc:"Seconds each run may take."`
}

func (p runOnListParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	r := inner{id: p.ID, params: p.Params, isolate: p.Isolate, nested: p.NewTx, tolerant: !p.Rollback, timeout: p.Timeout}
	err := r.each(c, p.List, p.Item)
	if !p.Isolate && err == nil {
		refresh(c)
	}
	return engine.Void{}, err
}
