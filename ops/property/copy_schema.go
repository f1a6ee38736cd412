package property

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var copySchema = engine.Op{
	Name:     "Document.CopySchema",
	Label:    "Copy Schema",
	Category: "Document",
	Doc:      "Copies the properties of one schema from another document and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.Each(copySchemaParams.run),
}

type copySchemaParams struct {
	Schema string      `json:"schema" names:"schema" doc:"Name of a schema that both documents have."`
	ID     storage.Ref `json:"sourceId,omitzero" type:"string" doc:"Id of the other document."`
	Path   storage.Ref `json:"sourcePath,omitzero" type:"string" doc:"Path of the other document."`
	Save   bool        `json:"saveDocument" default:"true" values:"true" doc:"Save the document immediately."`
	Older  bool        `json:"save" default:"true" values:"true" doc:"Old name of saveDocument; if either is false, the document is not saved."`
}

func (p copySchemaParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	ref := p.ID
	if ref == "" {
		ref = p.Path
	}
	if ref == "" || p.ID != "" && p.Path != "" {
		return nil, fault.Invalid.Errorf("sourceId, sourcePath: exactly one of them is required").In("sourceId")
	}
	// It is read as the caller, so nobody can copy what they may not see.
	from, err := c.Tx.DocFrom(d, ref)
	if err != nil {
		return nil, err
	}
	s, err := schemaOf(c, from, p.Schema)
	if err != nil {
		return nil, err
	}
	// Checked before the first property is set, so that a failure leaves the document as it was.
	if _, err := schemaOf(c, d, p.Schema); err != nil {
		return nil, err
	}
	// All fields are set, also those that are empty in the source, so that the result equals it.
	for _, f := range s.Fields {
		v, err := from.Get(f.Key)
		if err != nil {
			return nil, err
		}
		if err := d.Set(f.Key, v); err != nil {
			return nil, err
		}
	}
	// Chains that were written for older versions of the platform say save. Both default to true, so either
	// can say no.
	return keep(c, d, p.Save && p.Older)
}

func schemaOf(c *engine.Ctx, d *storage.Doc, name string) (*schema.Schema, error) {
	types := storage.TypesOf(c.Tx)
	s, declared := types.Schema(name)
	switch {
	case !declared:
		return nil, fault.Invalid.Errorf("schema %s: does not exist%s", name, fault.Perhaps(name, types.SchemaNames())).In("schema")
	case !slices.Contains(d.Schemas(), s):
		return nil, fault.Invalid.Errorf("schema %s: document %s does not have it", name, d.Path()).In("schema")
	}
	return s, nil
}
