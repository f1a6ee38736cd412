package decks

import (
	"cmp"
	"fmt"
	"strings"

	"catena/decks/convert"
	"catena/decks/field"
	"catena/storage"
)

// appearance are the properties a deck gets from what a presentation says about itself. What a deck cannot have is left out;
// left says so of a style sheet.
func appearance(d *convert.Deck) (props storage.Props, left []string) {
	props = storage.Props{}
	for _, f := range field.Fields.Of(field.Appearance) {
		if v, ok := imported(f, d.Options[f.Name]); ok {
			props[f.XPath] = v
		}
	}
	if d.Options["theme_color"] == nil && field.RevealColors[d.Theme] != "" {
		props["deck:theme_color"] = field.RevealColors[d.Theme]
	}
	switch {
	case d.CSS == "":
	case len(d.CSS) > maxStyles:
		left = []string{fmt.Sprintf("style sheet of %d bytes, limit %d", len(d.CSS), maxStyles)}
	case strings.Contains(strings.ToLower(d.CSS), "</style"):
		left = []string{"style sheet with </style"}
	default:
		props["deck:css"] = d.CSS // what may not act is left out whenever the deck is shown
	}
	return props, left
}

// maxStyles bounds, in bytes, the style sheet that a deck takes over. A larger one is left out as a whole, since half of a
// style sheet may look like anything.
const maxStyles = 256 << 10

// imported returns the value of a field that is most like one of another program.
func imported(f *field.Field, value any) (any, bool) {
	switch v := value.(type) {
	case string:
		v = cmp.Or(f.Synonyms[v], v)
		return v, v != "" && f.Known(v)
	case float64:
		return v, v < 1 // of the size of a slide; more than callers may choose is kept
	}
	return value, value != nil
}
