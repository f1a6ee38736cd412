package blob

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/uisession"
)

var importClipboard = engine.Op{
	Name:     "Blob.ImportClipboard",
	Aliases:  []string{"ImportClipboard"},
	Category: "Chain",
	Doc:      "Creates a document from the file in the caller's personal workspace, adds it to the caller's clipboard and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(importListParams.clipboard),
}

var importWorklist = engine.Op{
	Name:     "Blob.ImportWorklist",
	Aliases:  []string{"ImportWorklist"},
	Category: "Chain",
	Doc:      "Creates a document from the file in the caller's personal workspace, adds it to the caller's worklist and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.Each(importListParams.worklist),
}

type importListParams struct{}

func (p importListParams) clipboard(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	return p.run(c, b, uisession.Clipboard)
}

func (p importListParams) worklist(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	return p.run(c, b, uisession.Worklist)
}

func (importListParams) run(c *engine.Ctx, b *storage.Blob, list string) (*storage.Doc, error) {
	// Both lists are of references, so the document needs a place, and the caller's own workspace
	// is one that always exists.
	d, err := createAtHomeParams{}.run(c, b)
	if err != nil {
		return nil, err
	}
	return d, uisession.Add(c.Tx, list, d)
}

var importInSeam = engine.Op{
	Name:     "FileManager.ImportInSeam",
	Category: "Chain",
	Doc: "Creates a document from the file, as FileManager.Import does, or replaces the file of an existing one, and makes the user interface of the call's session, " +
		"if there is one, show it.",
	Callers: engine.Anyone,
	Run:     engine.Each(importSeamParams.run),
}

var importWithMetaDataInSeam = engine.Op{
	Name:     "FileManager.ImportWithMetaDataInSeam",
	Category: "Chain",
	Doc: "Creates a document from the file, or replaces the file of an existing one, with the properties in the context variable docMetaData, and makes the user interface of " +
		"the call's session, if there is one, show it.",
	Callers: engine.Anyone,
	Run:     engine.Each(importSeamParams.withMetaData),
}

type importSeamParams struct{}

func (p importSeamParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	d, err := importParams{Overwrite: true}.run(c, b)
	if err != nil {
		return nil, err
	}
	return d, p.refresh(c)
}

func (p importSeamParams) withMetaData(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	d, err := importMetaParams{}.run(c, b)
	if err != nil {
		return nil, err
	}
	return d, p.refresh(c)
}

// Seam is the name of the platform's former user interface. The operations work without one; then nothing is
// refreshed.
func (importSeamParams) refresh(c *engine.Ctx) error {
	_, err := c.Call("WebUI.Refresh", nil, nil)
	return err
}
