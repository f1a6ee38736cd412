package context

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// The operations on stacks come in threes, one for each of the four stacks.
var (
	pushBlob      = pushing("Context.PushBlob", "Blob.Push", "Push File", "file", onto[*storage.Blob](engine.Files))
	pushBlobs     = pushing("Context.PushBlobList", "Blob.PushList", "Push File List", "list of files", onto[storage.Blobs](engine.FileLists))
	pushDocument  = pushing("Context.PushDocument", "Document.Push", "Push Document", "document", onto[*storage.Doc](engine.Document))
	pushDocuments = pushing("Context.PushDocumentList", "Document.PushList", "Push Document List", "list of documents", onto[storage.Docs](engine.Documents))

	popBlob      = taking("Context.PopBlob", "Blob.Pop", "Pop File", "latest file", last[*storage.Blob](engine.Files))
	popBlobs     = taking("Context.PopBlobList", "Blob.PopList", "Pop File List", "latest list of files", last[storage.Blobs](engine.FileLists))
	popDocument  = taking("Context.PopDocument", "Document.Pop", "Pop Document", "latest document", last[*storage.Doc](engine.Document))
	popDocuments = taking("Context.PopDocumentList", "Document.PopList", "Pop Document List", "latest list of documents", last[storage.Docs](engine.Documents))

	pullBlob      = taking("Context.PullBlob", "Blob.Pull", "Pull File", "oldest file", first[*storage.Blob](engine.Files))
	pullBlobs     = taking("Context.PullBlobList", "Blob.PullList", "Pull File List", "oldest list of files", first[storage.Blobs](engine.FileLists))
	pullDocument  = taking("Context.PullDocument", "Document.Pull", "Pull Document", "oldest document", first[*storage.Doc](engine.Document))
	pullDocuments = taking("Context.PullDocumentList", "Document.PullList", "Pull Document List", "oldest list of documents", first[storage.Docs](engine.Documents))
)

func pushing(name, alias, label, what string, run engine.Func) engine.Op {
	return engine.Op{
		Name: name, Aliases: []string{alias}, Label: label, Category: "Push & Pop",
		Doc:    "Puts the input on the stack for each " + what + " and returns the input.",
		Effect: engine.Pure, Callers: engine.Anyone, Run: run,
	}
}

func taking(name, alias, label, what string, run engine.Func) engine.Op {
	return engine.Op{
		Name: name, Aliases: []string{alias}, Label: label, Category: "Push & Pop",
		Doc:    "Takes the " + what + " off its stack and makes it the input. It fails if the stack is empty.",
		Effect: engine.Pure, Callers: engine.Anyone, Run: run,
	}
}

// onto makes the function that pushes on a stack.
func onto[T any](s engine.Stack) engine.Func {
	return engine.On(func(_ none, c *engine.Ctx, in T) (T, error) {
		return in, c.Push(s, in)
	})
}

// last makes the function that takes the value pushed last.
func last[T any](s engine.Stack) engine.Func {
	return engine.On(func(_ none, c *engine.Ctx, _ engine.Void) (T, error) { return taken[T](c.Pop(s)) })
}

// first makes the function that takes the value pushed first.
func first[T any](s engine.Stack) engine.Func {
	return engine.On(func(_ none, c *engine.Ctx, _ engine.Void) (T, error) { return taken[T](c.Pull(s)) })
}

func taken[T any](v any, ok bool) (T, error) {
	out, is := v.(T)
	if !ok || !is {
		return out, fault.Invalid.Errorf("stack: is empty")
	}
	return out, nil
}
