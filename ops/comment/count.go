package comment

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

var count = engine.Op{
	Name:     "Document.Routing.UpdateCommentsInfoOnDocument",
	Label:    "Update comments number on the document",
	Category: "Routing",
	Doc: "Counts the comments of each document that has the facet CommentsInfoHolder and that the caller may change, and stores the number in its " +
		"property infocom:numberOfComments. Replies do not count. Everything happens in the transaction of the call. Returns the input.",
	Callers: engine.Anyone,
	Run:     engine.On(countComments),
}

func countComments(_ engine.Void, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	page, err := search.Query(c.Tx, "SELECT * FROM Document WHERE ecm:mixinType = 'CommentsInfoHolder' AND ecm:isVersion = 0 AND ecm:isProxy = 0",
		search.Options{PageOptions: storage.PageOptions{Limit: most, CountLimit: -1}})
	if err != nil {
		return engine.Void{}, err
	}
	if page.HasNext {
		return engine.Void{}, fault.Limit.Errorf("documents: more than %d store the number of their comments", most)
	}
	for _, d := range page.Docs {
		// The platform counts with the rights of the server. Here documents that the caller may not
		// change are left out.
		if !c.Tx.Can(d, "WriteProperties") {
			continue
		}
		about, err := search.Query(c.Tx, "SELECT * FROM Comment WHERE ecm:parentId = ? AND ecm:primaryType = ? AND ecm:isTrashed = 0", search.Options{
			Args: []any{d.ID(), typeName}, PageOptions: storage.PageOptions{Limit: 1},
		})
		if err != nil {
			return engine.Void{}, err
		}
		// An unchanged number is not saved, so a run without news writes nothing. Quiet, as
		// counting is not a change that anybody made.
		if n := int64(about.Total); n != storage.Prop[int64](d, numberKey) {
			if err := d.Set(numberKey, n); err != nil {
				return engine.Void{}, err
			}
			if _, err := c.Tx.Save(d, storage.SaveOptions{Quiet: true}); err != nil {
				return engine.Void{}, err
			}
		}
	}
	return engine.Void{}, nil
}
