package deck

import (
	"catena/decks/field"
	"catena/decks/file"
	"catena/decks/html"
	"catena/engine"
	"catena/storage"
)

// Page is a deck as its pages show it: all fields, the HTML and the owner. Speaker notes are
// the owner's alone. What files names opens the deck's pictures.
func (v View) Page(c *engine.Ctx, d *storage.Doc, owner, files string) (map[string]any, error) {
	mine := c.As.Name == owner
	data := v.Shape(c, owner, d, field.Both, false)
	text, err := Source(c.Tx, d)
	if err != nil {
		return nil, err
	}
	if !mine {
		text, data["notes"] = html.WithoutNotes(text), ""
	}
	data["html"], data["editable"], data["files_query"] = file.WithKey(text, files), mine, files
	if sheet, ok := data["css_output"].(string); ok {
		data["css_output"] = file.WithKey(sheet, files)
	}
	who, err := OwnerOf(c, owner)
	if err != nil {
		return nil, err
	}
	data["owner"] = who
	tag := Version(d) + "-page"
	if mine {
		tag += "-notes"
	}
	return map[string]any{"data": data, "etag": `"` + tag + `"`}, nil
}

// Probed says that a deck is there.
func Probed(d *storage.Doc) map[string]any {
	return map[string]any{"data": map[string]any{"id": Number(d)}}
}
