package control

import (
	"catena/engine"
	"catena/storage"
)

var runFileOperation = engine.Op{
	Name:     "RunFileOperation",
	Aliases:  []string{"Context.RunFileOperation"},
	Label:    "Run File Chain",
	Category: "Execution Flow",
	Doc: "Runs an operation or chain on the file and returns the resulting file. newTx means a transaction of its " +
		"own, as for RunDocumentOperation.",
	Callers: engine.Anyone,
	Run:     engine.Each(runFileParams.run),
}

type runFileParams runDocumentParams

func (p runFileParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	return returning(c, runDocumentParams(p), b, "file")
}
