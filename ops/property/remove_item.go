package property

import (
	"strconv"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var removeItem = engine.Op{
	Name:     "Document.RemoveItemFromListProperty",
	Label:    "Remove Item from List Property",
	Category: "Document",
	Doc:      "Removes one item from a list, or all items without an index, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeItemParams.run),
}

type removeItemParams struct {
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the list."`
	Index *int   `json:"index,omitzero" doc:"Position of the item, starting at 0."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p removeItemParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	_, items, err := listAt(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	switch {
	case p.Index == nil:
		err = d.Set(p.Xpath, nil)
	// An index beyond the list is refused here: removing nothing would hide a mistake in the
	// client's counting.
	case *p.Index < 0 || *p.Index >= len(items):
		err = fault.Invalid.Errorf("property %s: has no item %d of %d", p.Xpath, *p.Index, len(items)).In("index")
	default:
		err = d.Remove(p.Xpath + "/" + strconv.Itoa(*p.Index))
	}
	if err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
