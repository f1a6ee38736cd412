package theme

// Color is a theme of colours.
type Color struct {
	Name                            string
	Background, Text, Heading, Link string
}

// Colors are the themes of colours; the first is what decks have unless they say otherwise.
var Colors = []Color{
	{"white-blue", "#ffffff", "#222222", "#111111", "#1463ba"},
	{"asphalt-orange", "#2b2f38", "#eceff4", "#ffffff", "#ff9d42"},
	{"beige-brown", "#f7f2e0", "#403a2e", "#2f281b", "#8a4b14"},
	{"black-blue", "#111111", "#f0f0f0", "#ffffff", "#5ab4ff"},
	{"black-mint", "#111111", "#f0f0f0", "#ffffff", "#4fe0a8"},
	{"black-orange", "#1c1c1c", "#f0f0f0", "#ffffff", "#ff9a3c"},
	{"blue-yellow", "#1d3f72", "#eef3fb", "#ffffff", "#ffd84d"},
	{"cobalt-orange", "#0d3b5c", "#e8f1f7", "#ffffff", "#ffa64d"},
	{"coral-blue", "#ac342d", "#fff5f3", "#ffffff", "#c9e9ff"},
	{"forest-yellow", "#1d4a30", "#edf6ef", "#ffffff", "#ffe066"},
	{"grey-blue", "#35393f", "#eeeeee", "#ffffff", "#79bdff"},
	{"mint-beige", "#1c5c52", "#f2efe2", "#fffbee", "#f2d9a0"},
	{"sand-blue", "#f2ece1", "#35322c", "#25221c", "#1a5f9e"},
	{"sea-yellow", "#12656b", "#e9f6f6", "#ffffff", "#ffe15c"},
	{"silver-blue", "#e3e6e9", "#2b2f33", "#1b1f23", "#0f5ba8"},
	{"silver-green", "#e3e6e4", "#2b302d", "#1a201c", "#1d6b3a"},
	{"sky-blue", "#d9eefb", "#22333f", "#12232f", "#0b5a94"},
	{"yellow-black", "#ffde3d", "#1d1a08", "#000000", "#5b3b00"},
}

// Font is a pair of faces: of headings and of the rest. A face that is built in has a family.
type Font struct {
	Name          string
	Heading, Body string // families, the best first
	families      []family
	Tracking      string // space between the letters of headings
	Upper         bool   // headings are in capitals
	Weight        string // of headings
}

// family is a built-in family of faces and the faces there are.
type family struct {
	name, file     string
	italic, single bool // has an italic face; has no bold one
	latin          bool // has no further Latin letters
}

const (
	serif = `Georgia, "Liberation Serif", serif`
	sans  = `"Helvetica Neue", Helvetica, Arial, "Liberation Sans", sans-serif`
)

var (
	lato     = family{name: "Lato", file: "lato", italic: true}
	openSans = family{name: "Open Sans", file: "open-sans", italic: true}
	overpass = family{name: "Overpass", file: "overpass", italic: true}
)

// Fonts are the themes of fonts; the first is what decks have unless they say otherwise.
var Fonts = []Font{
	{Name: "montserrat", Heading: `Montserrat, ` + sans, Body: `"Open Sans", ` + sans, families: []family{{name: "Montserrat", file: "montserrat", italic: true}, openSans}, Weight: "700"},
	{Name: "asul", Heading: `Asul, ` + serif, Body: `Asul, ` + serif, families: []family{{name: "Asul", file: "asul", latin: true}}, Weight: "700"},
	{Name: "helvetica", Heading: sans, Body: sans, Weight: "700"},
	{Name: "josefine", Heading: `"Josefin Sans", ` + sans, Body: `Lato, ` + sans, families: []family{{name: "Josefin Sans", file: "josefin-sans", italic: true}, lato}, Weight: "700"},
	{Name: "league", Heading: `"League Gothic", Impact, ` + sans, Body: `Lato, ` + sans, families: []family{{name: "League Gothic", file: "league-gothic", single: true}, lato}, Upper: true, Weight: "400"},
	{Name: "merriweather", Heading: `Merriweather, ` + serif, Body: `Merriweather, ` + serif, families: []family{{name: "Merriweather", file: "merriweather", italic: true}}, Weight: "700"},
	{Name: "news", Heading: `"News Cycle", ` + sans, Body: `Lato, ` + sans, families: []family{{name: "News Cycle", file: "news-cycle"}, lato}, Weight: "700"},
	{Name: "no-font", Heading: "inherit", Body: sans, Weight: "700"},
	{Name: "opensans", Heading: `"Open Sans", ` + sans, Body: `"Open Sans", ` + sans, families: []family{openSans}, Weight: "700"},
	{Name: "overpass", Heading: `Overpass, ` + sans, Body: `Overpass, ` + sans, families: []family{overpass}, Upper: true, Weight: "700"},
	{Name: "overpass2", Heading: `Overpass, ` + sans, Body: `Overpass, ` + sans, families: []family{overpass}, Weight: "700"},
	{Name: "palatino", Heading: `"Palatino Linotype", Palatino, "Book Antiqua", ` + serif, Body: `"Palatino Linotype", Palatino, "Book Antiqua", ` + serif, Weight: "400"},
	{Name: "quicksand", Heading: `Quicksand, ` + sans, Body: `"Open Sans", ` + sans, families: []family{{name: "Quicksand", file: "quicksand"}, openSans}, Weight: "700", Upper: true, Tracking: "-0.02em"},
	{Name: "sketch", Heading: `"Cabin Sketch", ` + sans, Body: `Cabin, ` + sans, families: []family{{name: "Cabin Sketch", file: "cabin-sketch", latin: true}, {name: "Cabin", file: "cabin", italic: true}}, Weight: "700"},
}

// ColorOf returns a theme of colours by its name; one there is none of stands for the first.
func ColorOf(name string) *Color {
	for i := range Colors {
		if Colors[i].Name == name {
			return &Colors[i]
		}
	}
	return &Colors[0]
}

func fontOf(name string) *Font {
	for i := range Fonts {
		if Fonts[i].Name == name {
			return &Fonts[i]
		}
	}
	return &Fonts[0]
}

// ColorNames lists the names of the themes of colours.
func ColorNames() []string {
	out := make([]string, len(Colors))
	for i := range Colors {
		out[i] = Colors[i].Name
	}
	return out
}

// FontNames lists the names of the themes of fonts.
func FontNames() []string {
	out := make([]string, len(Fonts))
	for i := range Fonts {
		out[i] = Fonts[i].Name
	}
	return out
}
