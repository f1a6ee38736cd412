package blob

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/people"
)

var createAtHome = engine.Op{
	Name:     "UserWorkspace.CreateDocumentFromBlob",
	Label:    "Create Document from file in User's workspace",
	Category: "Services",
	Doc:      "Creates a document from the file in the caller's personal workspace, as FileManager.Import does in a folder.",
	Callers:  engine.Anyone,
	Run:      engine.Each(createAtHomeParams.run),
}

type createAtHomeParams struct{}

func (createAtHomeParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	// The workspace is the caller's own, so no permission needs to be checked; it is created on
	// first use.
	home, err := people.Home(c.Tx, true)
	if err != nil {
		return nil, err
	}
	return importParams{}.into(c, home, b, nil)
}
