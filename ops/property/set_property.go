package property

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/upload"
)

var setProperty = engine.Op{
	Name:     "Document.SetProperty",
	Label:    "Update Property",
	Category: "Document",
	Doc: "Sets one scalar property or file, or clears it when no value is given, and returns the document. " +
		"Text is converted to the property's type; a reference to an upload means the file, or its text.",
	Callers: engine.Anyone,
	Run:     engine.Each(setPropertyParams.run),
}

type setPropertyParams struct {
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the property, for example dc:title."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
	Value any    `json:"value,omitzero" type:"serializable" doc:"The new value."`
}

func (p setPropertyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	field, err := d.FieldAt(p.Xpath)
	if err != nil {
		return nil, err
	}
	// A value that names an upload stands for the file. For a property of text its content is taken by d.Set.
	if m, ok := p.Value.(map[string]any); ok && upload.BatchIn(m) != "" {
		b, err := c.Uploaded(m)
		if err != nil {
			return nil, err
		}
		if p.Value = nil; b != nil {
			p.Value = b
		}
	}
	_, file := p.Value.(*storage.Blob)
	// Lists and complex values are for Document.Update and the operations on lists. A property that
	// holds a file takes a file or nothing.
	if field.List || field.Kind == schema.Complex || field.Kind == schema.Blob && !file && p.Value != nil {
		return nil, fault.Invalid.Errorf("property %s: must be a scalar, not %s", p.Xpath, field.TypeName()).In(p.Xpath)
	}
	if err := d.Set(p.Xpath, p.Value); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
