package decks

import "strings"

// words makes a set of what stands in the texts, separated by blanks.
func words(texts ...string) map[string]bool {
	set := map[string]bool{}
	for _, text := range texts {
		for w := range strings.FieldsSeq(text) {
			set[w] = true
		}
	}
	return set
}

// themeColors and themeFonts are the ids of the service's themes.
var (
	themeColors = words(`white-blue sand-blue beige-brown silver-green silver-blue sky-blue blue-yellow cobalt-orange asphalt-orange
		forest-yellow mint-beige sea-yellow yellow-black coral-blue grey-blue black-blue black-mint black-orange`)
	themeFonts = words(`montserrat league opensans josefine palatino news helvetica merriweather asul sketch quicksand overpass overpass2 no-font`)
)

// revealColors are the colours most like those of reveal.js' own themes.
var revealColors = map[string]string{
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
