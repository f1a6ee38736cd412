package blob

import (
	"catena/engine"
	"catena/storage"
)

var attachCurrent = engine.Op{
	Name:     "BlobHolder.AttachOnCurrentDocument",
	Aliases:  []string{"BlobHolder.Attach"},
	Label:    "Attach File or files to the currentDocument.",
	Category: "Files",
	Doc: "Attaches the input to the document named by the context variable currentDocument, saves it and returns it. One file becomes its main file; " +
		"of several, the first does if requested, and the others are appended to its attachments.",
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(attachCurrentParams.blobs), engine.On(attachCurrentParams.blob)),
}

type attachCurrentParams struct {
	UseMain bool `json:"useMainBlob" default:"true" doc:"Whether the first of several files becomes the main file."`
}

func (p attachCurrentParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	// A single file always becomes the main file, whatever the parameter says, as in the platform.
	p.UseMain = true
	return p.blobs(c, storage.Blobs{b})
}

func (p attachCurrentParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
	d, err := container(c)
	if err != nil {
		return nil, err
	}
	if p.UseMain && len(files) > 0 {
		if err := d.AttachBlob("blobholder:0", files[0]); err != nil {
			return nil, err
		}
		files = files[1:]
	}
	// A type without attachments keeps none: the files that are left are dropped, and the result
	// does not say so.
	if d.Type().HasSchema("files") {
		for _, b := range files {
			if err := d.AttachBlob("files:files", b); err != nil {
				return nil, err
			}
		}
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}

var attachFiles = engine.Op{
	Name:     "AttachFiles",
	Label:    "AttachFiles",
	Category: "Files",
	Doc:      "Attaches the input to the document named by the context variable currentDocument, saves it and returns it. One file becomes its main file; several are appended to its attachments.",
	Callers:  engine.Anyone,
	Run:      engine.Overload(engine.On(attachFilesParams.blobs), engine.On(attachFilesParams.blob)),
}

type attachFilesParams struct{}

func (attachFilesParams) blob(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	return attachCurrentParams{}.blob(c, b)
}

func (attachFilesParams) blobs(c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
	return attachCurrentParams{}.blobs(c, files)
}
