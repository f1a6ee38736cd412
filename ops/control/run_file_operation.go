package control

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var runFileOperation = engine.Op{
	Name:     "RunFileOperation",
	Aliases:  []string{"Context.RunFileOperation"},
	Label:    "Run File Chain",
	Category: "Execution Flow",
	Doc: "Runs an operation or chain on the file and returns the resulting file. newTx means a savepoint of the call's " +
		"transaction, as for RunDocumentOperation.",
	Callers: engine.Anyone,
	Run:     engine.Each(runFileParams.run),
}

type runFileParams runDocumentParams

func (p runFileParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	out, err := runDocumentParams(p).inner().run(c, b)
	if !p.Isolate && err == nil {
		refresh(c)
	}
	if err != nil || out == nil {
		return nil, err
	}
	found, ok := out.(*storage.Blob)
	if !ok {
		return nil, fault.Invalid.Errorf("operation %s: did not return a file", p.ID).In("id")
	}
	return found, nil
}
