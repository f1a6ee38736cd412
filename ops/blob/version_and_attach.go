package blob

import (
	"catena/engine"
	"catena/storage"
)

var versionAndAttachFile = engine.Op{
	Name:     "VersionAndAttachFile",
	Category: "Chain",
	Doc: "Archives the document named by context variable currentDocument as a minor version and then puts the files on it, " +
		"the first as its main file, the others behind its further files. The document is saved and returned.",
	Run: engine.On(versionFileParams.run),
}

type versionFileParams struct{}

func (versionFileParams) run(c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
	return attachToNext(c, files, true)
}

var versionAndAttachFiles = engine.Op{
	Name:     "VersionAndAttachFiles",
	Category: "Chain",
	Doc: "Archives the document named by context variable currentDocument as a minor version and then puts the files behind " +
		"its further files. The document is saved and returned.",
	Run: engine.On(versionFilesParams.run),
}

type versionFilesParams struct{}

func (versionFilesParams) run(c *engine.Ctx, files storage.Blobs) (*storage.Doc, error) {
	return attachToNext(c, files, false)
}

// attachToNext keeps what the current document is, and attaches the files to what it is from then on.
func attachToNext(c *engine.Ctx, files storage.Blobs, main bool) (*storage.Doc, error) {
	d, err := container(c)
	if err != nil {
		return nil, err
	}
	if _, err := c.Tx.CheckIn(d, false, "before files are attached"); err != nil {
		return nil, err
	}
	return attachCurrentParams{UseMain: main}.blobs(c, files)
}
