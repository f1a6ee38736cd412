package control

import (
	"catena/engine"
)

var runOperationOnListInNewTx = engine.Op{
	Name:       "RunOperationOnListInNewTx",
	Deprecated: engine.Deprecation{Since: "2026-11-23", Instead: "RunOperationOnList"},
	Aliases:    []string{"Context.RunOperationOnListInNewTx"},
	Label:      "Run For Each in new TX",
	Category:   "Execution Flow",
	Doc: "Runs an operation or chain on the input once for every item of the list in a context variable and returns the input. " +
		"Each run has a transaction of its own, which is committed before that of the call and stays when the call fails. The first " +
		"failure ends the list and fails the call.",
	Callers: engine.Admins.OrStored(),
	Run:     engine.On(runOnListInNewTxParams.run),
}

type runOnListInNewTxParams struct {
	ID      string `json:"id" names:"operation" doc:"Name of the operation or chain."`
	List    string `json:"list" doc:"Name of the variable that holds the list."`
	Isolate bool   `json:"isolate" default:"true" doc:"Use a copy of the context variables."`
	Item    string `json:"itemName" default:"item" doc:"Name of the variable for the current item."`
}

func (p runOnListInNewTxParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, inner{id: p.ID, isolate: p.Isolate, apart: true}.each(c, p.List, p.Item)
}
