package deck

import (
	"net/url"
	"time"

	"catena/decks/field"
	"catena/decks/html"
	"catena/decks/style"
	"catena/engine"
	"catena/engine/quoted"
	"catena/storage"
	"catena/storage/fault"
)

// View says how a result looks.
type View struct {
	Revision string `json:"revision" default:"union" doc:"Revision of the service whose fields the result has: A, B, or union for those of both."`
	Base     string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
}

// Set returns the set of revisions that is meant.
func (v View) Set() (field.Revision, error) {
	switch v.Revision {
	case "A", "a":
		return field.A, nil
	case "B", "b":
		return field.B, nil
	case "", "union":
		return field.Both, nil
	}
	return 0, fault.Invalid.Errorf("revision %q: must be A or B", v.Revision).In("revision").WithCode(fault.CodeUnknownRevision)
}

// Address is the page of a user's deck.
func (v View) Address(owner string, d *storage.Doc) string {
	return v.Base + "/" + Homes + "/" + url.PathEscape(owner) + "/" + url.PathEscape(storage.Prop[string](d, "deck:slug"))
}

// computed are the fields that no property holds.
var computed = map[string]func(c *engine.Ctx, v View, owner string, d *storage.Doc) any{
	"css_output": func(_ *engine.Ctx, _ View, _ string, d *storage.Doc) any {
		return style.Compile(storage.Prop[string](d, "deck:css"))
	},
	"thumbnail_url": func(c *engine.Ctx, v View, owner string, d *storage.Doc) any { return v.Thumbnail(c, owner, d) },
	"url":           func(_ *engine.Ctx, v View, owner string, d *storage.Doc) any { return v.Address(owner, d) },
	"urls":          func(_ *engine.Ctx, v View, owner string, d *storage.Doc) any { return v.urls(owner, d) },
}

func (v View) urls(owner string, d *storage.Doc) any {
	a := v.Address(owner, d)
	return map[string]any{"default": a, "fullscreen": a + "/fullscreen", "edit": a + "/edit", "present": a + "/present"}
}

// Value returns the value of a field of a user's deck.
func (v View) Value(c *engine.Ctx, f *field.Field, owner string, d *storage.Doc) any {
	if f.XPath == "" {
		return computed[f.Name](c, v, owner, d)
	}
	value, _ := d.Get(f.XPath)
	switch at := value.(type) {
	case time.Time:
		return Stamp(at)
	case nil:
		if f.EmptyText {
			return ""
		}
	}
	return value
}

// Shape returns the fields of a user's deck in a revision, without the HTML.
func (v View) Shape(c *engine.Ctx, owner string, d *storage.Doc, in field.Revision, summary bool) map[string]any {
	room := len(field.Fields)
	if summary {
		room = 8
	}
	out := make(map[string]any, room)
	for i := range field.Fields {
		if f := &field.Fields[i]; f.In&in != 0 && !f.HTML && (f.Summary || !summary) {
			out[f.Name] = v.Value(c, f, owner, d)
		}
	}
	return out
}

// Result is the whole deck with its entity tag. The HTML is in it under the name of each
// revision: always in B, in A when asked for and after a write.
func (v View) Result(c *engine.Ctx, d *storage.Doc, withHTML bool) (map[string]any, error) {
	return v.ResultOf(c, c.As.Name, d, withHTML)
}

// Changed is the result of a write. HTML that was written is not read again.
func (v View) Changed(c *engine.Ctx, d *storage.Doc, a Applied) (map[string]any, error) {
	out, err := v.result(c, c.As.Name, d, true, a)
	if err == nil && len(a.Removed) > 0 {
		out["meta"] = Sanitized(a.Removed)
	}
	return out, err
}

// ResultOf is the result for another user's deck.
func (v View) ResultOf(c *engine.Ctx, owner string, d *storage.Doc, withHTML bool) (map[string]any, error) {
	return v.result(c, owner, d, withHTML, Applied{})
}

func (v View) result(c *engine.Ctx, owner string, d *storage.Doc, withHTML bool, written Applied) (map[string]any, error) {
	in, err := v.Set()
	if err != nil {
		return nil, err
	}
	data := v.Shape(c, owner, d, in, false)
	if withHTML || in&field.B != 0 {
		text, err := answered(c, d, written)
		if err != nil {
			return nil, err
		}
		for i := range field.Fields {
			if f := &field.Fields[i]; f.HTML && f.In&in != 0 && (withHTML || f.In&field.B != 0) {
				data[f.Name] = text
			}
		}
	}
	return map[string]any{"data": data, "etag": TagOf(d, in, withHTML)}, nil
}

// Sanitized tells what was taken out of HTML.
func Sanitized(removed []string) map[string]any {
	return map[string]any{"sanitized": engine.List(removed)}
}

// answered is a deck's HTML in a result: as JSON if the result is only encoded. Under its digest it is kept as the rules of
// now make it, which do not change while the server runs.
func answered(c *engine.Ctx, d *storage.Doc, written Applied) (any, error) {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil {
		return "", err
	}
	read := func() (string, error) {
		if written.Written {
			return written.HTML, nil
		}
		return source(c.Tx, d, b)
	}
	text, ok, err := c.Quoted(quoted.Key{Kind: "deck:html", Digest: b.Digest}, read)
	if ok || err != nil {
		return text, err
	}
	return read()
}

// Source reads a deck's HTML. What was made harmless by earlier rules is made so by those of now.
func Source(tx *storage.Tx, d *storage.Doc) (string, error) {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil {
		return "", err
	}
	return source(tx, d, b)
}

func source(tx *storage.Tx, d *storage.Doc, b *storage.Blob) (string, error) {
	text, err := tx.Bytes(b, html.MaxBytes)
	if err != nil || IsClean(tx, d, b) {
		return string(text), err
	}
	return Cleaned(tx.Context(), string(text))
}
