package property

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var removeEntry = engine.Op{
	Name:     "Document.RemoveEntryOfMultivaluedProperty",
	Aliases:  []string{"RemoveEntryOfMultivaluedProperty"},
	Label:    "Remove Entry Of Multivalued Property",
	Category: "Document",
	Doc:      "Removes a value from a list of scalars: all occurrences or only the first. A list without the value is unchanged.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removeEntryParams.run),
}

type removeEntryParams struct {
	Value any    `json:"value" type:"serializable" doc:"The value to remove; it must convert to the type of the items."`
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the list, for example dc:subjects."`
	All   bool   `json:"is Remove All" default:"true" values:"true" doc:"Remove all occurrences instead of only the first."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p removeEntryParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	field, err := d.FieldAt(p.Xpath)
	if err != nil {
		return nil, err
	}
	// Complex items have no single value to compare with; they are removed by their position.
	if !field.List || !field.Kind.Scalar() {
		return nil, fault.Invalid.Errorf("property %s: must be a list of scalars, not %s", p.Xpath, field.TypeName()).In(p.Xpath)
	}
	value, err := field.Item().Coerce(p.Value)
	if err != nil {
		return nil, err
	}
	list, err := d.Get(p.Xpath)
	if err != nil {
		return nil, err
	}
	items, _ := list.([]any)
	// The document is saved even if the list does not have the value, unlike in addItem.
	if err := d.Set(p.Xpath, p.without(items, value)); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

func (p removeEntryParams) without(items []any, value any) []any {
	// DeleteFunc works in place, and items belong to the document.
	left := slices.Clone(items)
	if p.All {
		return slices.DeleteFunc(left, func(item any) bool { return schema.Equal(item, value) })
	}
	for i, item := range left {
		if schema.Equal(item, value) {
			return slices.Delete(left, i, i+1)
		}
	}
	return left
}
