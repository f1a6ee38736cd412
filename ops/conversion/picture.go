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
		"Its views are those of pictureTemplates, made at once; without templates, the usual ones are made when they are requested.",
	Callers: engine.Anyone,
	Run:     engine.Each(pictureCreateParams.run),
}

type pictureCreateParams struct {
	Name       string        `json:"name,omitzero" doc:"Name in the folder; Untitled by default."`
	Templates  storage.Props `json:"pictureTemplates,omitzero" doc:"Views by their names: a JSON object each, with title, description, tag and maxsize, the longest side in pixels."`
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
	// Views are made before the document exists, so that creating it is the one change, with one
	// version and one event. The file may have come as a plain property, too.
	if b, ok := props["file:content"].(*storage.Blob); ok && len(p.Templates) > 0 {
		var err error
		if props[viewsField], err = p.views(c, b); err != nil {
			return nil, err
		}
	}
	name := p.Name
	if name == "" {
		name = "Untitled"
	}
	return c.Tx.Create(folder, "Picture", name, props)
}

// original reads the description of a file, as JSON or taken apart already. The platform takes
// originalPicture as JSON text; a map or a file, as chains may pass it, will do, too. What it may name,
// an upload of the caller's for example, is decided where all parameters of type blob are read
// (engine.Ctx.Convert).
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
