package context

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The operations that make the value of an expression the input differ in its type only.
var (
	restoreBlobFromScript = evaluating("Context.RestoreBlobInputFromScript", "Restore input blob from a script",
		"Makes the file returned by an expression the input.", engine.On(scriptParams.blob))
	restoreBlobsFromScript = evaluating("Context.RestoreBlobsInputFromScript", "Restore input blobs from a script",
		"Makes the files returned by an expression the input.", engine.On(scriptParams.blobs))
	restoreDocumentFromScript = evaluating("Context.RestoreDocumentInputFromScript", "Restore input document from a script",
		"Makes the document returned by an expression the input.", engine.On(scriptParams.document))
	restoreDocumentsFromScript = evaluating("Context.RestoreDocumentsInputFromScript", "Restore input documents from a script",
		"Makes the documents returned by an expression the input.", engine.On(scriptParams.documents))
)

func evaluating(name, label, doc string, run engine.Func) engine.Op {
	return engine.Op{
		Name: name, Label: label, Category: "Execution Context",
		Doc:    doc + " Expressions are accepted from stored chains and from callers who may run scripts.",
		Effect: engine.Reads, Callers: engine.Scripters.OrStored(), Run: run,
	}
}

type scriptParams struct {
	Script string `json:"script" widget:"TextArea" doc:"The expression."`
}

func (p scriptParams) blob(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	return valueOf[*storage.Blob](c, p.Script, "blob")
}

func (p scriptParams) blobs(c *engine.Ctx, _ engine.Void) (storage.Blobs, error) {
	return valueOf[storage.Blobs](c, p.Script, "bloblist")
}

func (p scriptParams) document(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	return valueOf[*storage.Doc](c, p.Script, "document")
}

func (p scriptParams) documents(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	return valueOf[storage.Docs](c, p.Script, "documents")
}

// valueOf evaluates an expression, whose value has to be of the type.
func valueOf[T any](c *engine.Ctx, expression, word string) (T, error) {
	var zero T
	v, err := c.Eval(expression)
	if err != nil {
		return zero, err
	}
	if v, err = c.Convert(v, word); err != nil {
		return zero, err
	}
	out, ok := v.(T)
	if !ok {
		return zero, fault.Invalid.Errorf("script: its value is no %s", word).In("script")
	}
	return out, nil
}
