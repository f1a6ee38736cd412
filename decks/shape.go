package decks

import (
	"net/url"
	"time"

	"catena/decks/html"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// revision is a set of revisions of the service; the union of both is what callers get who
// name none.
type revision uint8

const (
	revA revision = 1 << iota
	revB
	union = revA | revB
)

// view is how a result is to look.
type view struct {
	Revision string `json:"revision" default:"union" doc:"Revision of the service whose fields the result has: A, B, or union for those of both."`
	Base     string `json:"base" default:"" doc:"Public address that stands in front of the addresses in the result."`
}

func (v view) set() (revision, error) {
	switch v.Revision {
	case "A", "a":
		return revA, nil
	case "B", "b":
		return revB, nil
	case "", "union":
		return union, nil
	}
	return 0, fault.Invalid.Errorf("revision %q: there are A and B", v.Revision).In("revision").WithCode(fault.CodeUnknownRevision)
}

// address is the page of a user's deck.
func (v view) address(owner string, d *storage.Doc) string {
	return v.Base + "/" + homes + "/" + url.PathEscape(owner) + "/" + url.PathEscape(storage.Prop[string](d, "deck:slug"))
}

func (t *detail) of(v view, owner string, d *storage.Doc) any {
	if t.value != nil {
		return t.value(v, owner, d)
	}
	value, _ := d.Get(t.xpath)
	switch at := value.(type) {
	case time.Time:
		return stamp(at)
	case nil:
		if texts[t.xpath] {
			return ""
		}
	}
	return value
}

// stamp writes an instant as the service does.
func stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// shape returns the fields of a user's deck in the view's revision.
func (v view) shape(c *engine.Ctx, owner string, d *storage.Doc, in revision, summary bool) map[string]any {
	out := make(map[string]any, len(details)+2)
	for i := range details {
		if t := &details[i]; t.in&in != 0 && (t.summary || !summary) {
			out[t.name] = t.of(v, owner, d)
		}
	}
	if in&revA != 0 {
		out["thumbnail_url"] = v.thumbnail(c, owner, d)
	}
	return out
}

// result is the whole deck with its entity tag. The HTML is in it under the name of each
// revision: always in B, in A when asked for and after a write.
func (v view) result(c *engine.Ctx, d *storage.Doc, withHTML bool, removed []string) (map[string]any, error) {
	return v.resultOf(c, c.As.Name, d, withHTML, removed)
}

func (v view) resultOf(c *engine.Ctx, owner string, d *storage.Doc, withHTML bool, removed []string) (map[string]any, error) {
	in, err := v.set()
	if err != nil {
		return nil, err
	}
	data := v.shape(c, owner, d, in, false)
	if withHTML || in&revB != 0 {
		text, err := source(c.Tx, d)
		if err != nil {
			return nil, err
		}
		if in&revB != 0 {
			data["data"] = text
		}
		if withHTML && in&revA != 0 {
			data["deck_html"] = text
		}
	}
	out := map[string]any{"data": data, "etag": tagOf(d, in, withHTML)}
	if len(removed) > 0 {
		out["meta"] = sanitized(removed)
	}
	return out, nil
}

// sanitized tells what was taken out of HTML.
func sanitized(removed []string) map[string]any {
	return map[string]any{"sanitized": engine.List(removed)}
}

// tagOf is the entity tag of a deck as a revision shows it, with its HTML or without.
func tagOf(d *storage.Doc, in revision, withHTML bool) string {
	tag := version(d)
	switch in {
	case revA:
		tag += "-a"
	case revB:
		tag += "-b"
	default:
		tag += "-u"
	}
	if withHTML && in&revA != 0 {
		tag += "h"
	}
	return `"` + tag + `"`
}

// source reads a deck's HTML.
func source(tx *storage.Tx, d *storage.Doc) (string, error) {
	b, err := d.Blob("deck:html")
	if err != nil || b == nil {
		return "", err
	}
	text, err := tx.Bytes(b, html.MaxBytes)
	return string(text), err
}
