package control

import (
	"catena/engine"
	"catena/storage"
)

var runDocumentOperationInNewTx = engine.Op{
	Name:       "Context.RunDocumentOperationInNewTx",
	Label:      "Run Document Chain in new Tx",
	Deprecated: engine.Deprecation{Since: "2026-11-23", Instead: "RunDocumentOperation"},
	Category:   "Execution Flow",
	Doc: "Runs an operation or chain on the input in a transaction of its own, which is committed before that of the call and stays " +
		"when the call fails, and returns the input. If it fails, its changes are undone and the failure is logged, or with rollbackGlobalOnError fails the call.",
	Callers: engine.Admins.OrStored(),
	Run:     engine.On(runInNewTxParams.run),
}

type runInNewTxParams struct {
	ID       string        `json:"id" names:"operation" doc:"Name of the operation or chain."`
	Isolate  bool          `json:"isolate" default:"false" doc:"Use a copy of the context variables."`
	Params   storage.Props `json:"parameters,omitzero" doc:"Parameters of the operation or chain."`
	Rollback bool          `json:"rollbackGlobalOnError" default:"false" doc:"A failure fails the call."`
	Timeout  int           `json:"timeout" default:"60" doc:"Timeout in seconds."`
}

func (p runInNewTxParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	_, err := inner{id: p.ID, params: p.Params, isolate: p.Isolate, apart: true, tolerant: !p.Rollback, timeout: p.Timeout}.run(c, c.Input)
	return engine.Void{}, err
}
