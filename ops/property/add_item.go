package property

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var addItem = engine.Op{
	Name:     "DocumentMultivaluedProperty.addItem",
	Aliases:  []string{"AddEntryToMultivaluedProperty"},
	Label:    "Add Entry To Multivalued Property",
	Category: "Document",
	Doc:      "Adds a value to the end of a list of scalars and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(addItemParams.run),
}

type addItemParams struct {
	Value any    `json:"value" type:"serializable" doc:"The value to add; it must convert to the type of the items."`
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the list, for example dc:subjects."`
	Once  bool   `json:"checkExists" default:"true" values:"true" doc:"Do not add a value that the list already contains."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p addItemParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	field, items, err := listAt(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	// Complex items are added by Document.AddItemToListProperty, which reads them as JSON.
	if !field.Kind.Scalar() {
		return nil, fault.Invalid.Errorf("property %s: must be a list of scalars, not %s", p.Xpath, field.TypeName()).In(p.Xpath)
	}
	// The value is converted before it is compared: "5" is in a list of numbers that has 5.
	value, err := field.Item().Coerce(p.Value)
	if err != nil {
		return nil, err
	}
	// Nothing changes, so nothing is saved: a save would make a version and an event for no reason.
	if p.Once && slices.ContainsFunc(items, func(item any) bool { return schema.Equal(item, value) }) {
		return d, nil
	}
	if err := d.Set(p.Xpath, append(slices.Clip(items), value)); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

// listAt returns the list at an xpath. It belongs to the document: callers must not append to it or
// change items without copying. A list that was never set is nil, without an error.
func listAt(d *storage.Doc, xpath string) (*schema.Field, []any, error) {
	field, err := d.FieldAt(xpath)
	if err != nil {
		return nil, nil, err
	}
	if !field.List {
		return nil, nil, fault.Invalid.Errorf("property %s: must be a list, not %s", xpath, field.TypeName()).In(xpath)
	}
	v, err := d.Get(xpath)
	items, _ := v.([]any)
	return field, items, err
}
