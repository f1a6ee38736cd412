package property

import (
	"maps"
	"slices"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var setMetadata = engine.Op{
	Name:     "Document.SetMetadataFromBlob",
	Aliases:  []string{"Document.TriggerMetadataMapping"},
	Label:    "Set Metadata From Blob",
	Category: "Files",
	Doc: "Sets properties of the document from the metadata of one of its files, using a declared mapping. Properties whose " +
		"metadata the file does not have are unchanged. Returns nothing.",
	Callers: engine.Anyone,
	Run:     engine.On(setMetadataParams.run).As("document", "void"),
}

type setMetadataParams struct {
	Mapping   string `json:"metadataMappingId" doc:"Name of the mapping, for example pdf."`
	Processor string `json:"processor" default:"exifTool" unused:"true" doc:"Accepted but ignored."`
	Save      bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p setMetadataParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	m, ok := storage.TypesOf(c.Tx).Metadata(p.Mapping)
	if !ok {
		return nil, fault.Invalid.Errorf("metadataMappingId: unknown mapping %s", p.Mapping).In("metadataMappingId")
	}
	b, err := d.BlobAt(m.Blob)
	if err != nil || b == nil {
		return nil, err
	}
	// The metadata are read by the operation that chains use, which returns them in a variable. Its variables
	// are isolated: the caller's must not change.
	sub := c.Sub(true)
	if _, err := sub.Call("Context.SetMetadataFromBlob", b, map[string]any{"ignorePrefix": false}); err != nil {
		return nil, err
	}
	found, _ := sub.Vars["binaryMetadata"].(map[string]any)
	// In order, so that of several invalid values always the same one is reported.
	for _, xpath := range slices.Sorted(maps.Keys(m.Properties)) {
		v := named(found, m.Properties[xpath])
		if v == nil {
			continue
		}
		if err := d.Set(xpath, v); err != nil {
			return nil, err
		}
	}
	// A document that is not stored yet is one that a listener is about to create: it is saved by that.
	_, err = keep(c, d, p.Save && d.Saved())
	return nil, err
}

// named finds a value by its name, or by that without the group in front.
func named(found map[string]any, name string) any {
	for _, full := range slices.Sorted(maps.Keys(found)) {
		if _, short, _ := strings.Cut(full, ":"); strings.EqualFold(full, name) || strings.EqualFold(short, name) {
			return found[full]
		}
	}
	return nil
}
