package document

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// maxChildren bounds the unpaged list of children; longer ones are read by pages. The bound is for one
// folder; each input document of a list has it to itself.
const maxChildren = 100_000

var getChildren = engine.Op{
	Name:     "Document.GetChildren",
	Label:    "Get Children",
	Category: "Document",
	Doc:      "Returns all children that the caller may read, in order, without paging and including trashed ones.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getChildrenParams.run),
}

type getChildrenParams struct{}

func (getChildrenParams) run(c *engine.Ctx, d *storage.Doc) (storage.Docs, error) {
	children := storage.Docs{}
	// The children are read one by one, so that the limit ends the call before all of them are in memory.
	for child, err := range c.Tx.EachChild(d) {
		if err != nil {
			return nil, err
		}
		if len(children) == maxChildren {
			return nil, fault.Limit.Errorf("document %s: more than %d children, read them by pages", d.Path(), maxChildren).WithCode(fault.CodeChildren)
		}
		children = append(children, child)
	}
	return children, nil
}
