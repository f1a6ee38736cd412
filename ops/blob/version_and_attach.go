package blob

import (
	"catena/engine"
	"catena/storage"
)

var (
	versionAndAttachFile = attachToNext("VersionAndAttachFile", "on it, the first as its main file, the others behind its further files",
		attachCurrentParams{UseMain: true})
	versionAndAttachFiles = attachToNext("VersionAndAttachFiles", "behind its further files", attachCurrentParams{})
)

// attachToNext makes an operation that keeps what the current document is and attaches the files to what it is from then on.
func attachToNext(name, where string, attach attachCurrentParams) engine.Op {
	return engine.Op{
		Name:     name,
		Category: "Chain",
		Doc: "Archives the document named by context variable currentDocument as a minor version and then puts the files " + where +
			". The document is saved and returned.",
		Run: engine.On(func(_ struct{}, c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
			d, err := container(c)
			if err != nil {
				return nil, err
			}
			if _, err := c.Tx.CheckIn(d, false, "before files are attached"); err != nil {
				return nil, err
			}
			return attach.blobs(c, files)
		}),
	}
}
