package tag

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var put = engine.Op{
	Name:     "Services.TagDocument",
	Label:    "Tag Document",
	Category: "Services",
	Doc:      "Adds tags to the document and returns it. Users who may read the document may tag it. Tags are lower-cased and lose spaces and the characters / \\ ' %; existing tags are kept, and documents of types without tags are unchanged.",
	Callers:  engine.Anyone,
	Run:      engine.Each(putParams.run),
}

type putParams struct {
	Tags []string `json:"tags" doc:"The tags."`
}

func (p putParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// A proxy has no properties of its own, so the tag would be put on the document that it shows.
	if d.IsProxy() {
		return nil, fault.Invalid.Errorf("document %s: a proxy cannot be tagged", d.ID())
	}
	if !canHold(c, d) {
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
	had := len(items)
	for _, label := range labels {
		if slices.ContainsFunc(items, func(it item) bool { return it.label == label }) {
			continue
		}
		items = append(items, item{label, c.As.Name})
		if err := c.Tx.Table(owners).Put(ownerKey(d, label), storage.OwnedBy(c.As)); err != nil {
			return nil, err
		}
		if err := known(c, label); err != nil {
			return nil, err
		}
	}
	switch {
	case len(items) == had:
		return d, nil
	case len(items) > maxTags:
		return nil, fault.Limit.Errorf("document %s: more than %d tags", d.ID(), maxTags).In("tags")
	}
	return write(c, d, items)
}

// known sees to it that a word is among those in use. Words are never taken out again when the last
// document loses them, as that would need a count on every change; suggestions check each word instead
// (inUse).
func known(c *engine.Ctx, label string) error {
	var row struct{}
	found, err := c.Tx.Table(words).Get(label, &row)
	if err != nil || found {
		return err
	}
	return c.Tx.Table(words).Put(label, row)
}
