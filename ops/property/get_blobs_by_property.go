package property

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var getBlobsByProperty = engine.Op{
	Name:     "Document.GetBlobsByProperty",
	Aliases:  []string{"Blob.GetList"},
	Label:    "Get Document Files",
	Category: "Files",
	Doc:      "Returns the files of a list property: the member file of each item, or the item itself.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.Each(getBlobsByPropertyParams.run),
}

type getBlobsByPropertyParams struct {
	Xpath string `json:"xpath" default:"files:files" values:"files:files" names:"xpath" doc:"Xpath of the list."`
}

func (p getBlobsByPropertyParams) run(_ *engine.Ctx, d *storage.Doc) (storage.Blobs, error) {
	field, err := d.FieldAt(p.Xpath)
	if err != nil {
		return nil, err
	}
	// A single file is not taken for a list of one: Document.GetBlob is for that.
	if !field.List {
		return nil, fault.Invalid.Errorf("property %s: must be a list, not %s", p.Xpath, field.TypeName()).In(p.Xpath)
	}
	list, err := d.Get(p.Xpath)
	if err != nil {
		return nil, err
	}
	// Unlike Document.GetBlobs, an empty list is the result if there are no files.
	found := storage.Blobs{}
	items, _ := list.([]any)
	for _, item := range items {
		// Lists of files exist in two forms: items that are files, and items that are objects with the member
		// file.
		if m, ok := item.(map[string]any); ok {
			item = m["file"]
		}
		if b, ok := item.(*storage.Blob); ok && b != nil {
			found = append(found, b)
		}
	}
	return found, nil
}
