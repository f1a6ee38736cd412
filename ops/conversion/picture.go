package conversion

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var pictureCreate = engine.Op{
	Name:     "Picture.Create",
	Label:    "Create Picture",
	Category: "Services",
	Doc: "Creates a picture in the input folder and returns it. The property originalPicture describes its file as JSON; without it, the picture has no file. " +
		"Its views are created when they are requested.",
	Callers: engine.Anyone,
	Run:     engine.Each(pictureCreateParams.run),
}

type pictureCreateParams struct {
	Name       string        `json:"name,omitzero" doc:"Name in the folder; Untitled by default."`
	Templates  storage.Props `json:"pictureTemplates,omitzero" doc:"Accepted but ignored: the views of a picture are always the same."`
	Properties storage.Props `json:"properties,omitzero" doc:"Initial properties by xpath, and the file as originalPicture."`
}

func (p pictureCreateParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	props := storage.Props{}
	for name, v := range p.Properties {
		if name != "originalPicture" {
			props[name] = v
			continue
		}
		b, err := original(c, v)
		if err != nil {
			return nil, err
		}
		if b != nil {
			props["file:content"] = b
		}
	}
	name := p.Name
	if name == "" {
		name = "Untitled"
	}
	return c.Tx.Create(folder, "Picture", name, props)
}

// original reads the description of a file, as JSON or taken apart already.
func original(c *engine.Ctx, v any) (*storage.Blob, error) {
	if text, ok := v.(string); ok {
		v = nil
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return nil, fault.Invalid.Errorf("property originalPicture: %w", err).In("properties")
		}
	}
	if v == nil {
		return nil, nil
	}
	out, err := c.Convert(v, "blob")
	if err != nil {
		return nil, fault.Wrap(err, "property originalPicture").In("properties")
	}
	b, _ := out.(*storage.Blob)
	return b, nil
}

var pictureView = engine.Op{
	Name:     "Picture.GetView",
	Aliases:  []string{"Picture.getView"},
	Label:    "Get image view",
	Category: "Conversion",
	Doc:      "Returns a view of a picture: Original, FullHD, Medium, Small or Thumbnail; without a name, its file. Returns nothing if the document is not a picture or the view does not exist.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(pictureViewParams.run),
}

type pictureViewParams struct {
	Name string `json:"viewName,omitzero" doc:"Name of the view."`
}

// views are the measures of pictures' views, in pixels.
var views = map[string][2]int{"FullHD": {1920, 1080}, "Medium": {1000, 1000}, "Small": {300, 300}, "Thumbnail": {100, 100}}

func (p pictureViewParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	if !d.HasFacet("Picture") {
		return nil, nil
	}
	b, err := d.MainBlob()
	if err != nil || b == nil || p.Name == "" || p.Name == "Original" {
		return b, err
	}
	size, ok := views[p.Name]
	if !ok {
		return nil, nil
	}
	return resized(c, b, size[0], size[1])
}
