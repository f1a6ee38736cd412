package blob

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var importWithProperties = engine.Op{
	Name:     "FileManager.ImportWithProperties",
	Label:    "Create Document from file",
	Category: "Services",
	Doc:      "Creates a document from the file, as FileManager.Import does, with properties. Everything happens in the transaction of the call.",
	Callers:  engine.Anyone,
	Run:      engine.Each(importWithParams.run),
}

type importWithParams struct {
	Properties map[string]any `json:"properties" type:"properties" doc:"Properties by xpath."`
	TypeCheck  bool           `json:"mimeTypeCheck" default:"true" doc:"Detect the file's type."`
	Overwrite  bool           `json:"overwrite" default:"false" doc:"Replace the file of a document with the same title or file name, if the folder has one."`
}

func (p importWithParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	return importParams{NoTypeCheck: !p.TypeCheck, Overwrite: p.Overwrite}.with(c, b, p.Properties)
}

var importWithMetaData = engine.Op{
	Name:     "FileManager.ImportWithMetaData",
	Category: "Chain",
	Doc:      "Creates a document from the file, or replaces the file of an existing one, with the properties in the context variable docMetaData.",
	Callers:  engine.Anyone,
	Run:      engine.Each(importMetaParams.run),
}

type importMetaParams struct{}

func (importMetaParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Doc, error) {
	var props map[string]any
	switch v := c.Vars["docMetaData"].(type) {
	case nil:
	case map[string]any:
		props = v
	case storage.Props:
		props = v
	// Clients send variables as text, which is read like a parameter of type properties.
	case string:
		plain, err := c.Convert(v, "properties")
		if err != nil {
			return nil, err
		}
		props, _ = plain.(storage.Props)
	default:
		return nil, fault.Invalid.Errorf("variable docMetaData: must hold properties").In("docMetaData")
	}
	return importParams{Overwrite: true}.with(c, b, props)
}
