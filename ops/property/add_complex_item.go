package property

import (
	"encoding/json"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var addComplexItem = engine.Op{
	Name:     "Document.AddItemToListProperty",
	Label:    "Add Item to List Property",
	Category: "Document",
	Doc:      "Adds complex items, written as JSON, to the end of a list and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(addComplexItemParams.run),
}

type addComplexItemParams struct {
	Items string `json:"complexJsonProperties" doc:"The items: a JSON array of objects, or one object."`
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the list."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p addComplexItemParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	field, items, err := listAt(d, p.Xpath)
	if err != nil {
		return nil, err
	}
	if field.Kind != schema.Complex {
		return nil, fault.Invalid.Errorf("property %s: must be a list of complex values, not %s", p.Xpath, field.TypeName()).In(p.Xpath)
	}
	more, err := objects(p.Items)
	if err != nil {
		return nil, err
	}
	// Clip makes append copy the list: items belong to the document, which compares old and new to find out
	// what changed.
	if err := d.Set(p.Xpath, append(slices.Clip(items), more...)); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}

// objects reads a JSON array, or one value as an array of it. The members are checked against the schema
// when the list is set, so an unknown one is refused there.
func objects(text string) ([]any, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, fault.Invalid.Errorf("complexJsonProperties: not JSON: %w", err).In("complexJsonProperties")
	}
	if list, ok := v.([]any); ok {
		return list, nil
	}
	return []any{v}, nil
}
