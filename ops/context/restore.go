package context

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The operations that make the value of a variable the input differ in its type only.
var (
	restoreBlob = restoring("Context.RestoreBlobInput", "Restore File Input",
		"Makes the file in a context variable the input.", engine.On(restoreParams.blob))
	restoreBlobs = restoring("Context.RestoreBlobsInput", "Restore Files Input",
		"Makes the files in a context variable the input; a single file becomes a list.", engine.On(restoreParams.blobs))
	restoreDocument = restoring("Context.RestoreDocumentInput", "Restore Document Input",
		"Makes the document in a context variable the input.", engine.On(restoreParams.document))
	restoreDocuments = restoring("Context.RestoreDocumentsInput", "Restore Documents Input",
		"Makes the documents in a context variable the input.", engine.On(restoreParams.documents))
)

func restoring(name, label, doc string, run engine.Func) engine.Op {
	return engine.Op{Name: name, Label: label, Category: "Execution Context", Doc: doc, Effect: engine.Reads, Callers: engine.Anyone, Run: run}
}

type restoreParams struct {
	Name string `json:"name" doc:"Name of the variable."`
}

func (p restoreParams) blob(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	switch v := c.Vars[p.Name].(type) {
	case *storage.Blob:
		if v != nil {
			return v, nil
		}
	case map[string]any:
		return file(c, v)
	}
	return nil, p.mismatch("a file")
}

func (p restoreParams) blobs(c *engine.Ctx, _ engine.Void) (storage.Blobs, error) {
	switch v := c.Vars[p.Name].(type) {
	case storage.Blobs:
		return v, nil
	case *storage.Blob:
		if v != nil {
			return storage.Blobs{v}, nil
		}
	case map[string]any:
		b, err := file(c, v)
		if err != nil {
			return nil, err
		}
		return storage.Blobs{b}, nil
	}
	return nil, p.mismatch("files")
}

func (p restoreParams) document(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	switch v := c.Vars[p.Name].(type) {
	case *storage.Doc:
		if v != nil {
			return v, nil
		}
	case storage.Ref:
		return c.Tx.Doc(v)
	}
	return nil, p.mismatch("a document")
}

func (p restoreParams) documents(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	switch v := c.Vars[p.Name].(type) {
	case storage.Docs:
		return v, nil
	case *storage.Page:
		if v != nil {
			return v.Docs, nil
		}
	case storage.Refs:
		return c.Tx.Docs(v)
	}
	return nil, p.mismatch("documents")
}

// file makes a file of what clients send for one: a variable of the request is that, while an input is a file already.
func file(c *engine.Ctx, v map[string]any) (*storage.Blob, error) {
	made, err := c.Convert(v, "blob")
	if err != nil {
		return nil, fault.Wrap(err, "name").In("name")
	}
	b, ok := made.(*storage.Blob)
	if !ok {
		return nil, fault.Invalid.Errorf("name: the variable does not hold a file").In("name")
	}
	return b, nil
}

func (p restoreParams) mismatch(what string) error {
	return fault.Invalid.Errorf("variable %s: does not hold %s", p.Name, what).In("name")
}
