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
		"With newTx it runs in a transaction of its own, which is committed before that of the call: it does not see what the call has " +
		"changed so far, and it stays when the call fails. If it fails itself, its changes are undone; without rollbackGlobalOnError " +
		"the failure is then logged and the call continues without a result.",
	Callers: engine.Anyone,
	Run:     engine.Each(runDocumentParams.run),
}

type runDocumentParams struct {
	ID       string        `json:"id" names:"operation" doc:"Name of the operation or chain."`
	Isolate  bool          `json:"isolate" default:"false" doc:"Use a copy of the context variables."`
	NewTx    bool          `json:"newTx" default:"false" doc:"Run in a transaction of its own."`
	Params   storage.Props `json:"parameters,omitzero" doc:"Parameters of the operation or chain."`
	Rollback bool          `json:"rollbackGlobalOnError" default:"true" doc:"A failure in a transaction of its own fails the call."`
	Timeout  int           `json:"timeout" default:"60" doc:"Timeout in seconds."`
}

func (p runDocumentParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	return returning(c, p, d, "document")
}

// returning runs the operation, which must return what it was given: a document or a file. Nothing as a
// result is allowed: the operation may have deleted the document, or its failure was tolerated.
func returning[T any](c *engine.Ctx, p runDocumentParams, in T, word string) (found T, err error) {
	r := inner{id: p.ID, params: p.Params, isolate: p.Isolate, apart: p.NewTx, tolerant: !p.Rollback, timeout: p.Timeout}
	r.check = func(out any) error {
		if _, ok := out.(T); !ok {
			return fault.Invalid.Errorf("operation %s: did not return a %s", p.ID, word).In("id")
		}
		return nil
	}
	out, err := r.run(c, in)
	if !p.Isolate && err == nil {
		refresh(c)
	}
	if err != nil || out == nil {
		return found, err
	}
	return out.(T), nil
}
