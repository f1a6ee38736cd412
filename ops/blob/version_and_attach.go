package blob

import (
	"catena/engine"
	"catena/storage"
)

var (
	versionAndAttachFile = attachToNext("VersionAndAttachFile", "to it, the first as its main file, the others appended to its attachments",
		attachCurrentParams{UseMain: true})
	versionAndAttachFiles = attachToNext("VersionAndAttachFiles", "to its attachments", attachCurrentParams{})
)

// attachToNext makes an operation that keeps what the current document is and attaches the files to what it is from then on.
func attachToNext(name, where string, attach attachCurrentParams) engine.Op {
	return engine.Op{
		Name:     name,
		Category: "Chain",
		Doc: "Archives the document named by the context variable currentDocument as a minor version and then attaches the files " + where +
			". The document is saved and returned.",
		Callers: engine.Anyone,
		Run: engine.On(func(_ struct{}, c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
			d, err := container(c)
			if err != nil {
				return nil, err
			}
			// The version is made first: it has to hold the state without the new files.
			if _, err := c.Tx.CheckIn(d, false, "before files are attached"); err != nil {
				return nil, err
			}
			return attach.blobs(c, files)
		}),
	}
}
