package field

import "catena/decks/theme"

// The limits of texts, in characters.
const (
	MaxTitle       = 200
	MaxDescription = 10_000
	maxOrigins     = 1000
)

const htmlDoc = "HTML of the deck: only section elements at the top level, each a slide or a stack that contains its slides."

// Fields are the fields of a deck, in the order in which they are checked and described.
var Fields = Table{
	{Name: "id", Type: Integer, In: Both, Summary: true, Card: true, XPath: "deck:number"},
	{Name: "title", Type: Text, In: Both, Summary: true, Card: true, XPath: "dc:title", Write: Direct, New: "deck", MinLength: 1, MaxLength: MaxTitle, Line: true, Doc: "Title of 1 to 200 characters."},
	{Name: "description", Type: Text, In: Both, Summary: true, Card: true, XPath: "deck:description", EmptyText: true, Write: Direct, MaxLength: MaxDescription, Doc: "Description of the deck."},
	{Name: "thumbnail_url", Type: Address, In: A, Summary: true, Card: true},
	{Name: "url", Type: Address, In: Both, Summary: true, Card: true},
	{Name: "urls", Type: Object, In: Both},
	{Name: "slug", Type: Text, In: Both, XPath: "deck:slug"},
	{Name: "slide_count", Type: Integer, In: Both, Card: true, XPath: "deck:slide_count"},
	{Name: "notes", Type: Text, In: Both, XPath: "deck:notes", EmptyText: true},
	{Name: "css", Type: Text, In: A, XPath: "deck:css", EmptyText: true},
	{Name: "css_input", Type: Text, In: B, XPath: "deck:css", EmptyText: true},
	{Name: "css_output", Type: Text, In: B},
	{Name: "width", Type: Integer, In: Both, XPath: "deck:width", Write: Direct, Min: bound(1), Option: "width", Doc: "Width of a slide in pixels, at least 1."},
	{Name: "height", Type: Integer, In: Both, XPath: "deck:height", Write: Direct, Min: bound(1), Option: "height", Doc: "Height of a slide in pixels, at least 1."},
	{Name: "margin", Type: Number, In: Both, XPath: "deck:margin", Write: Appearance, Min: bound(0), Max: bound(0.5), Option: "margin"},
	{Name: "transition", Type: Text, In: Both, XPath: "deck:transition", Write: Appearance, Values: transitions, Synonyms: formerTransitions, Option: "transition"},
	{Name: "background_transition", Type: Text, In: Both, XPath: "deck:background_transition", Write: Appearance, Values: transitions, Synonyms: formerTransitions, Option: "backgroundTransition"},
	{Name: "rtl", Type: Boolean, In: A, XPath: "deck:rtl", Write: Appearance, Option: "rtl"},
	{Name: "loop", Type: Boolean, In: A, XPath: "deck:loop", Write: Appearance, Option: "loop"},
	{Name: "theme_font", Type: Text, In: Both, Card: true, XPath: "deck:theme_font", Write: Appearance, Values: theme.FontNames()},
	{Name: "theme_color", Type: Text, In: Both, Card: true, XPath: "deck:theme_color", Write: Appearance, Values: theme.ColorNames()},
	{Name: "language", Type: Text, In: Both, XPath: "deck:language", Write: Appearance, Tag: true},
	{Name: "embed_origins", Type: Text, In: Both, XPath: "deck:embed_origins", EmptyText: true, Write: Appearance, MaxLength: maxOrigins, Origins: true, Line: true},
	{Name: "created_at", Type: Moment, In: Both, XPath: "dc:created"},
	{Name: "updated_at", Type: Moment, In: Both, Card: true, XPath: "dc:modified"},
	{Name: "data", Type: Text, In: B, HTML: true, Write: Direct, Aliases: []string{"html", "deck_html"}, Doc: htmlDoc},
	{Name: "deck_html", Type: Text, In: A, HTML: true, Write: Direct},
	{Name: "visibility", Type: Text, In: Both, Card: true, XPath: "deck:visibility", Write: Direct, Values: []string{"all", "self", "team"}, Doc: "Who may see the deck: all, self, or team for team accounts."},
}

// transitions are the ways from one slide or background to the next.
var transitions = []string{"slide", "fade", "none", "convex", "concave", "zoom"}

// formerTransitions are those of older presentations.
var formerTransitions = map[string]string{"default": "convex", "linear": "slide", "cube": "slide", "page": "slide"}

// RevealColors are the theme colors most like those of the themes of reveal.js.
var RevealColors = map[string]string{
	"beige":          "beige-brown",
	"black":          "black-blue",
	"black-contrast": "black-blue",
	"blood":          "black-orange",
	"dracula":        "black-mint",
	"league":         "asphalt-orange",
	"moon":           "cobalt-orange",
	"night":          "black-orange",
	"serif":          "sand-blue",
	"simple":         "white-blue",
	"sky":            "sky-blue",
	"solarized":      "sand-blue",
	"white":          "white-blue",
	"white-contrast": "white-blue",
}
