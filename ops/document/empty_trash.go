package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// maxEmptied bounds the documents that one call looks at. All of them are deleted in one transaction, which
// has to fit into memory and into the log; the bulk action uses a transaction for each batch.
const maxEmptied = 10_000

var emptyTrash = engine.Op{
	Name:     "Document.EmptyTrash",
	Label:    "Empty Trash",
	Category: "Document",
	Doc:      "Permanently deletes the trashed documents below a document that the caller may delete.",
	Callers:  engine.Anyone,
	Run:      engine.On(emptyTrashParams.run),
}

type emptyTrashParams struct {
	Parent *storage.Doc `json:"parent" doc:"The document to search below."`
}

func (p emptyTrashParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	const trashed = "SELECT * FROM Document WHERE ecm:ancestorId = ? AND ecm:isTrashed = 1 AND ecm:isVersion = 0"
	o := search.Options{Args: []any{p.Parent.ID()}, PageOptions: storage.PageOptions{CountLimit: -1}}
	var found storage.Docs
	page, err := search.Query(c.Tx, trashed, o)
	// All documents are found before the first one is deleted, as deleting changes what the following pages
	// contain.
	for ; err == nil && page != nil; page, err = search.Next(c.Tx, page) {
		if found = append(found, page.Docs...); len(found) > maxEmptied {
			return engine.Void{}, fault.Limit.Errorf("document %s: more than %d documents in the trash, use the bulk action deletion", p.Parent.Path(), maxEmptied)
		}
	}
	if err != nil {
		return engine.Void{}, err
	}
	for _, d := range found {
		err := c.Tx.Delete(d) // one below another goes with it
		// The user empties what the user may delete; a document of somebody else in the trash stays and is no
		// error.
		if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			return engine.Void{}, err
		}
	}
	return engine.Void{}, nil
}
