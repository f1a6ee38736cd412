package property

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var resetSchema = engine.Op{
	Name:     "Document.ResetSchema",
	Label:    "Reset Schema",
	Category: "Document",
	Doc:      "Resets the properties of a schema, or one property, to their default values, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(resetSchemaParams.run),
}

type resetSchemaParams struct {
	Schema string `json:"schema,omitzero" names:"schema" doc:"Name of the schema."`
	Xpath  string `json:"xpath,omitzero" names:"xpath" doc:"Xpath of one property; overrides the schema."`
	Save   bool   `json:"saveDocument" default:"true" values:"true" doc:"Save the document immediately."`
	Older  bool   `json:"save" default:"true" values:"true" doc:"Old name of saveDocument; if either is false, the document is not saved."`
}

func (p resetSchemaParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	switch {
	case p.Xpath != "":
		field, err := d.FieldAt(p.Xpath)
		if err != nil {
			return nil, err
		}
		// A field without a default has nil, which clears it.
		if err := d.Set(p.Xpath, field.Default); err != nil {
			return nil, err
		}
	case p.Schema == "":
		return nil, fault.Invalid.Errorf("schema, xpath: one of them is required").In("schema")
	default:
		s, err := schemaOf(c, d, p.Schema)
		if err != nil {
			return nil, err
		}
		for _, f := range s.Fields {
			if err := d.Set(f.Key, f.Default); err != nil {
				return nil, err
			}
		}
	}
	return keep(c, d, p.Save && p.Older)
}
