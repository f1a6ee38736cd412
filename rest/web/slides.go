package web

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"catena/decks/theme"
)

// SlideOptions say how slides are shown.
type SlideOptions struct {
	Frame   Frame
	Print   bool     // the document may open the browser's dialog for printing
	Sources []string // other web origins pictures, films and frames may come from
}

// Frame is what slides are shown in.
type Frame string

// The frames.
const (
	Whole Frame = ""      // a window of their own
	Inner Frame = "inner" // another page, which drives them
	Still Frame = "still" // the same, small: no controls, no motion
	Live  Frame = "live"  // the editor, which sends the HTML again as it changes
	Rail  Frame = "rail"  // the same, every slide of its list, small
)

// deckSlides is what the sandboxed document needs besides the deck.
type deckSlides struct {
	Theme, Config        string
	Markdown, Code, Math bool
	Rail                 bool
}

// sandboxPolicy lets the document run the scripts of one nonce, show what it carries itself,
// and the pictures kept with the deck, and nothing else: no cookies, no network, no frames. Pages of this server and of the
// ancestors may show it in a frame: it has no control that does anything, so that nobody can be led to click one.
func sandboxPolicy(nonce, files, ancestors string, o SlideOptions) string {
	sources, allowed := o.Sources, "allow-scripts allow-popups allow-popups-to-escape-sandbox"
	if o.Print {
		allowed += " allow-modals"
	}
	media := "data: blob: " + files
	frames := "'none'"
	if len(sources) > 0 {
		media += " " + strings.Join(sources, " ")
		frames = strings.Join(sources, " ")
	}
	return "sandbox " + allowed + "; default-src 'none'; script-src 'nonce-" + nonce + "'; " +
		"style-src 'self' 'unsafe-inline'; font-src 'self' data:; img-src " + media + "; media-src " + media + "; frame-src " + frames + "; " +
		"connect-src 'none'; worker-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'" + ancestors
}

// Slides is the document with the slides themselves.
func (s Site) Slides(d *Deck, o SlideOptions) (*Page, error) {
	config := map[string]any{"frame": o.Frame} // what slides.js reads
	maps.Copy(config, d.Options)
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	sent := o.Frame == Live || o.Frame == Rail
	if sent {
		empty := *d
		empty.HTML = "" // the editor sends it
		d = &empty
	}
	v := &view{Site: s, Title: d.Title, Deck: d, Nonce: nonce(), Slides: &deckSlides{
		Theme: ThemeFile(d.Color, d.Font), Config: string(text),
		Markdown: sent || strings.Contains(d.HTML, "data-markdown"),
		Code:     sent || strings.Contains(d.HTML, "<code"),
		Math:     sent || theme.HasFormulas(d.HTML),
		Rail:     o.Frame == Rail,
	}}
	ancestors := ""
	if len(d.EmbedOrigins) > 0 {
		ancestors = " " + strings.Join(d.EmbedOrigins, " ")
	}
	p, err := v.render("slides.html", sandboxPolicy(v.Nonce, s.Host+d.Path+"/files/", ancestors, o))
	if err == nil {
		p.Framed = ancestors != ""
	}
	return p, err
}

// ThemeFile is the name of a theme's style sheet among the built-in files.
func ThemeFile(color, font string) string {
	if !slices.ContainsFunc(theme.Colors, func(c theme.Color) bool { return c.Name == color }) {
		color = theme.Colors[0].Name
	}
	if !slices.ContainsFunc(theme.Fonts, func(f theme.Font) bool { return f.Name == font }) {
		font = theme.Fonts[0].Name
	}
	return "theme/" + color + "." + font + ".css"
}
