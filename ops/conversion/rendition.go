package conversion

import (
	"catena/engine"
	"catena/engine/convert"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

var rendition = engine.Op{
	Name:     "Resource.Rendition",
	Label:    "Rendition",
	Category: "Resource",
	Doc:      "Returns a rendition of a document: thumbnail, pdf, xmlExport, zipExport or, for a folder, zipTreeExport. It fails if the document does not have the rendition.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(renditionParams.run),
}

type renditionParams struct {
	Name string `json:"name" doc:"Name of the rendition."`
}

func (p renditionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	return render(c, d, p.Name)
}

var getRendition = engine.Op{
	Name:     "Document.GetRendition",
	Label:    "Gets a document rendition",
	Category: "Files",
	Doc: "Returns a rendition of a document: thumbnail, pdf, xmlExport, zipExport or, for a folder, zipTreeExport. " +
		"If the document does not have it, the result is an empty file named after the document with the suffix .null.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Each(getRenditionParams.run),
}

type getRenditionParams struct {
	Name string `json:"renditionName" doc:"Name of the rendition."`
}

func (p getRenditionParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := render(c, d, p.Name)
	// Document.GetRendition is the older of the two operations, and the platform's returns an empty
	// file where Resource.Rendition fails. A name that no rendition has is Invalid and fails in
	// both.
	if fault.Is(err, fault.NotFound) {
		return blob.FromBytes(d.Name()+".null", "text/plain", nil), nil
	}
	return b, err
}

// renditions make what a document looks like, by name. Publishing refers to them by these names as well,
// and RenditionDefinition.Suggestion lists them. A rendition that this document does not have is an
// error of kind NotFound, which callers rely on.
var renditions = map[string]func(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error){
	"pdf":       asPDF,
	"thumbnail": thumbnail,
	"xmlExport": exported("xml", nil),
	"zipExport": exported("zip", map[string]any{"exportAsZip": true}),
	"zipTreeExport": func(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
		if !d.IsFolder() {
			return nil, fault.NotFound.Errorf("document %s: is not a folder", d.ID())
		}
		return exported("zip", map[string]any{"exportAsTree": true, "exportAsZip": true})(c, d)
	},
}

func render(c *engine.Ctx, d *storage.Doc, name string) (*storage.Blob, error) {
	make, ok := renditions[name]
	if !ok {
		return nil, fault.Invalid.Errorf("rendition %s: does not exist", name)
	}
	return make(c, d)
}

func asPDF(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	b, err := mainBlob(d)
	if err != nil {
		return nil, err
	}
	if b.Type != "application/pdf" && convert.Find(b.Type, "application/pdf") == nil {
		return nil, fault.NotFound.Errorf("document %s: its file has no PDF", d.ID())
	}
	return toPDFParams{}.blob(c, b)
}

// exported returns a rendition that the export of documents makes. It calls the operation by name, since
// families do not import each other. The export runs as the caller and leaves out what the caller may
// not read.
func exported(extension string, params map[string]any) func(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	return func(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
		v, err := c.Call("Document.Export", d, params)
		if err != nil {
			return nil, err
		}
		b, ok := v.(*storage.Blob)
		if !ok {
			return nil, fault.Internal.Errorf("document %s: its export is not a file", d.ID())
		}
		name := d.Name()
		if name == "" {
			name = "root"
		}
		return b.With(name+"."+extension, b.Type), nil
	}
}
