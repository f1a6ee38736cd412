// Package deck is the content of a deck: the fields that callers read and write, its HTML, and
// its appearance. A deck is a document of type Deck; its fields are the properties of the schema deck, and package field
// has the table of them. The families of operations below decks build on this package and do not import each other.
//
// Callers of the service have rights on decks, not on documents: a deck lies in a folder that only its owner
// can read, and links, teams and administrators reach it through operations that check their own rules and
// then act as the system (AsSystem).
package deck

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"

	"catena/decks/field"
	"catena/decks/render"
	"catena/decks/style"
	"catena/storage"
)

// Appearance is what a deck looks like, without its HTML and without who made it.
func Appearance(d *storage.Doc) render.Deck {
	out := appearance(d)
	out.CSS = style.Compile(out.CSS)
	return out
}

// appearance has the style sheet as it was written.
func appearance(d *storage.Doc) render.Deck {
	out := render.Deck{Title: d.Title(), Description: storage.Prop[string](d, "deck:description")}
	to := reflect.ValueOf(&out).Elem()
	for _, r := range rendered {
		value, _ := d.Get(r.xpath)
		switch f := to.Field(r.index); v := value.(type) {
		case bool:
			f.SetBool(v)
		case float64:
			f.SetFloat(v)
		case int64:
			f.SetInt(v)
		case string:
			f.SetString(v)
		}
	}
	return out
}

// rendered are the properties that rendering needs: each is kept in the field of render.Deck whose tag names the deck's field.
var rendered = func() (out []renderedField) {
	t := reflect.TypeFor[render.Deck]()
	for i := range t.NumField() {
		if f := field.Fields.Find(t.Field(i).Tag.Get("field")); f != nil {
			out = append(out, renderedField{f.XPath, i})
		}
	}
	return out
}()

type renderedField struct {
	xpath string
	index int // in render.Deck
}

// AppearanceVersion names what a deck looks like: as long as it is the same, so are its pictures.
func AppearanceVersion(d *storage.Doc) string {
	looks := appearance(d)
	h := sha256.New()
	fmt.Fprint(h, looks.CSS, "\x00", looks.Width, looks.Height, looks.RTL, looks.ThemeColor, "\x00", looks.ThemeFont, "\x00", looks.Language, "\x00", looks.Title)
	if b, err := d.Blob("deck:html"); err == nil && b != nil {
		fmt.Fprint(h, "\x00", b.Digest)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:9])
}
