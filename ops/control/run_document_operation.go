package control

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var runDocumentOperation = engine.Op{
	Name:     "RunDocumentOperation",
	Aliases:  []string{"Context.RunDocumentOperation"},
	Label:    "Run Document Chain",
	Category: "Execution Flow",
	Doc: "Runs an operation or chain on the document and returns the resulting document. " +
		"With newTx it runs in a savepoint of the call's transaction: nothing is stored before the call ends, and if it fails, " +
		"its changes are undone; without rollbackGlobalOnError the failure is then logged and the call continues without a result.",
	Callers: engine.Anyone,
	Run:     engine.Each(runDocumentParams.run),
}

type runDocumentParams struct {
	ID       string        `json:"id" names:"operation" doc:"Name of the operation or chain."`
	Isolate  bool          `json:"isolate" default:"false" doc:"Use a copy of the context variables."`
	NewTx    bool          `json:"newTx" default:"false" doc:"Run in a savepoint."`
	Params   storage.Props `json:"parameters,omitzero" doc:"Parameters of the operation or chain."`
	Rollback bool          `json:"rollbackGlobalOnError" default:"true" doc:"A failure within the savepoint fails the call."`
	Timeout  int           `json:"timeout" default:"60" doc:"Timeout in seconds."`
}

func (p runDocumentParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	out, err := p.inner().run(c, d)
	if !p.Isolate && err == nil {
		refresh(c)
	}
	if err != nil || out == nil {
		return nil, err
	}
	found, ok := out.(*storage.Doc)
	if !ok {
		return nil, fault.Invalid.Errorf("operation %s: did not return a document", p.ID).In("id")
	}
	return found, nil
}

func (p runDocumentParams) inner() inner {
	return inner{id: p.ID, params: p.Params, isolate: p.Isolate, nested: p.NewTx, tolerant: !p.Rollback, timeout: p.Timeout}
}
