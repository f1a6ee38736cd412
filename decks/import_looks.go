package decks

import (
	"cmp"
	"strings"

	"catena/decks/convert"
	"catena/decks/html"
	"catena/storage"
)

// looks are the properties a deck gets from what a presentation says about itself.
func looks(d *convert.Deck) storage.Props {
	props := storage.Props{"deck:rtl": d.RTL, "deck:loop": d.Loop}
	set := func(xpath, v string, ok bool) {
		if ok && v != "" {
			props[xpath] = v
		}
	}
	set("deck:transition", transitionOf(d.Transition), true)
	set("deck:background_transition", transitionOf(d.BackgroundTransition), true)
	set("deck:theme_color", cmp.Or(d.ThemeColor, revealColors[d.Theme]), d.ThemeColor == "" || themeColors[d.ThemeColor])
	set("deck:theme_font", d.ThemeFont, themeFonts[d.ThemeFont])
	set("deck:language", d.Language, languageLike(d.Language))
	set("deck:css", d.CSS, len(d.CSS) <= maxStyles && html.HarmlessCSS(d.CSS) && !strings.Contains(strings.ToLower(d.CSS), "</style"))
	if d.Margin != nil && *d.Margin < 1 {
		props["deck:margin"] = *d.Margin
	}
	return props
}

const maxStyles = 256 << 10

var transitions = words(`slide fade none convex concave zoom`)

// transitionOf is the transition that is most like one of another name; "" for none known.
func transitionOf(name string) string {
	switch name {
	case "default":
		return "convex"
	case "linear", "cube", "page":
		return "slide"
	}
	if transitions[name] {
		return name
	}
	return ""
}

func languageLike(tag string) bool {
	return len(tag) <= 35 && strings.Trim(strings.ToLower(tag), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
