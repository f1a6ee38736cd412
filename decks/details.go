package decks

import (
	"catena/decks/style"
	"catena/storage"
)

// detail is one field of a deck: its name and the revisions that have it.
type detail struct {
	name    string
	in      revision
	summary bool   // also in lists
	xpath   string // of the property it shows; or
	value   func(v view, owner string, d *storage.Doc) any
}

// details are the fields of a deck, except for its HTML.
var details = []detail{
	{name: "id", in: union, summary: true, xpath: "deck:number"},
	{name: "title", in: union, summary: true, xpath: "dc:title"},
	{name: "description", in: union, summary: true, xpath: "deck:description"},
	{name: "thumbnail_url", in: revA, summary: true, value: func(view, string, *storage.Doc) any { return "" }}, // shape knows it
	{name: "url", in: union, summary: true, value: func(v view, owner string, d *storage.Doc) any { return v.address(owner, d) }},
	{name: "urls", in: union, value: urls},
	{name: "slug", in: union, xpath: "deck:slug"},
	{name: "visibility", in: union, xpath: "deck:visibility"},
	{name: "slide_count", in: union, xpath: "deck:slide_count"},
	{name: "notes", in: union, xpath: "deck:notes"},
	{name: "css", in: revA, xpath: "deck:css"},
	{name: "css_input", in: revB, xpath: "deck:css"},
	{name: "css_output", in: revB, value: func(_ view, _ string, d *storage.Doc) any { return style.Compile(storage.Prop[string](d, "deck:css")) }},
	{name: "width", in: union, xpath: "deck:width"},
	{name: "height", in: union, xpath: "deck:height"},
	{name: "margin", in: union, xpath: "deck:margin"},
	{name: "transition", in: union, xpath: "deck:transition"},
	{name: "background_transition", in: union, xpath: "deck:background_transition"},
	{name: "rtl", in: revA, xpath: "deck:rtl"},
	{name: "loop", in: revA, xpath: "deck:loop"},
	{name: "theme_font", in: union, xpath: "deck:theme_font"},
	{name: "theme_color", in: union, xpath: "deck:theme_color"},
	{name: "language", in: union, xpath: "deck:language"},
	{name: "created_at", in: union, xpath: "dc:created"},
	{name: "updated_at", in: union, xpath: "dc:modified"},
}

// texts are the properties that are "" and not null without a value.
var texts = words("deck:description deck:notes deck:css")

func urls(v view, owner string, d *storage.Doc) any {
	a := v.address(owner, d)
	return map[string]any{"default": a, "fullscreen": a + "/fullscreen", "edit": a + "/edit", "present": a + "/present"}
}

// readOnly reports whether a name is a field of a deck that is not for writing.
func readOnly(name string) bool {
	for i := range details {
		if details[i].name == name {
			return true
		}
	}
	return false
}
