// Package upload holds operations on batches of files that a user uploads, whole or in chunks, before an operation or
// a document uses them. What a batch is and who may see it is for storage; an operation only says what the wire shows
// of it.
//
// A client uploads first and then names what it uploaded, as {"upload-batch": …, "upload-fileId": …}, in a
// parameter, an input or a property; the engine finds the file through Files. A batch ends when a call that
// used it is committed, unless the client asks to keep it.
package upload

import (
	"catena/engine"
	"catena/storage/upload"
)

// Ops are the operations on batches.
var Ops = []engine.Op{
	check,
	content,
	describe,
	drop,
	dropFile,
	file,
	handler,
	handlers,
	list,
	open,
	put,
}

// Files are the files of batches, for an engine to find.
var Files = engine.Uploads{Batch: upload.BatchIn, File: upload.Described, Drop: upload.Drop}

// info is what is said about a file of a batch.
func info(u *upload.File) map[string]any {
	m := map[string]any{"name": u.Name, "size": u.Size, "uploadType": kind(u)}
	if u.Chunked {
		chunked(m, u)
	}
	// Until a chunked file is put together, the size is what the client has announced. Nothing
	// relies on it.
	if !u.Complete() && u.Whole > 0 {
		m["size"] = u.Whole
	}
	return m
}

func chunked(m map[string]any, u *upload.File) {
	ids := make([]any, len(u.Chunks))
	for i, n := range u.Chunks {
		ids[i] = n
	}
	m["uploadedChunkIds"], m["chunkCount"] = ids, u.Count
}

func kind(u *upload.File) string {
	if u.Chunked {
		return "chunked"
	}
	return "normal"
}

// entries are what is said about all files of a batch.
func entries(c *engine.Ctx, batch string) ([]any, error) {
	files, err := upload.Files(c.Tx, batch)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(files))
	for i, u := range files {
		out[i] = info(u)
	}
	return out, nil
}
