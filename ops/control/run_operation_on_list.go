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
	Doc: "Runs an operation or chain on the input once for every item of the list in a context variable and returns the input. " +
		"With newTx each run has a transaction of its own, which is committed before that of the call and stays when the call fails. " +
		"The changes of a failed run are undone, and without rollbackGlobalOnError the others continue.",
	Callers: engine.Anyone,
	Run:     engine.On(runOnListParams.run),
}

type runOnListParams struct {
	ID       string        `json:"id" names:"operation" doc:"Name of the operation or chain."`
	List     string        `json:"list" doc:"Name of the variable that holds the list."`
	Isolate  bool          `json:"isolate" default:"true" doc:"Use a copy of the context variables."`
	Item     string        `json:"item" default:"item" doc:"Name of the variable for the current item."`
	NewTx    bool          `json:"newTx" default:"false" doc:"Give each run a transaction of its own."`
	Params   storage.Props `json:"parameters,omitzero" doc:"Parameters of the operation or chain."`
	Rollback bool          `json:"rollbackGlobalOnError" default:"true" doc:"A failure in a transaction of its own fails the call."`
	Timeout  int           `json:"timeout" default:"60" doc:"Timeout of each run in seconds."`
}

func (p runOnListParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	r := inner{id: p.ID, params: p.Params, isolate: p.Isolate, apart: p.NewTx, tolerant: !p.Rollback, timeout: p.Timeout}
	err := r.each(c, p.List, p.Item)
	// The runs had the caller's own variables, some of which may be documents that they have changed.
	if !p.Isolate && err == nil {
		refresh(c)
	}
	return engine.Void{}, err
}
