package tag

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var remove = engine.Op{
	Name:     "Services.UntagDocument",
	Label:    "Untag Document",
	Category: "Services",
	Doc:      "Removes tags from the document and returns it. Users who may write the document can remove any tag, others only their own. Tags that the document does not have are ignored.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeParams.run),
}

type removeParams struct {
	Tags []string `json:"tags" doc:"The tags."`
}

func (p removeParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !d.HasFacet(facet) {
		return d, nil
	}
	labels, err := clean(p.Tags)
	if err != nil {
		return nil, err
	}
	items, err := read(d)
	if err != nil {
		return nil, err
	}
	left := slices.Clone(items)
	for _, label := range labels {
		i := slices.IndexFunc(left, func(it item) bool { return it.label == label })
		if i < 0 {
			continue
		}
		// Tags are stored as the system, so this is the only check there is.
		own, err := isOf(c, d, left[i])
		if err != nil {
			return nil, err
		}
		if !own && !c.Tx.Can(d, "Write") {
			return nil, fault.Denied.Errorf("tag %s: was added by another user", label).In("tags")
		}
		if err := c.Tx.Table(owners).Delete(ownerKey(d, label)); err != nil {
			return nil, err
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) == len(items) {
		return d, nil
	}
	return write(c, d, left)
}

var removeAll = engine.Op{
	Name:     "Services.RemoveDocumentTags",
	Label:    "Remove All Document Tags",
	Category: "Services",
	Doc:      "Removes all tags from the document and returns it. The caller must be allowed to write the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeAllParams.run),
}

type removeAllParams struct{}

func (removeAllParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !c.Tx.Can(d, "Write") {
		return nil, fault.Denied.Errorf("Privilege 'Write' is not granted to '%s'", c.As.Name)
	}
	if !d.HasFacet(facet) {
		return d, nil
	}
	items, err := read(d)
	if err != nil || len(items) == 0 {
		return d, err
	}
	if err := erase(c.Tx, d); err != nil {
		return nil, err
	}
	return write(c, d, nil)
}
