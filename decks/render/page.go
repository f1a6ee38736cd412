package render

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"html/template"
	"io/fs"
	"slices"
	"strings"

	"catena/decks/theme"
	"catena/storage/fault"
)

//go:embed start.js
var startScript []byte

// pageTemplate is the page of a deck. Decks were cleaned when they were written.
var pageTemplate = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="{{.Language}}" dir="{{.Direction}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="catena">
<title>{{.Title}}</title>
{{with .Author}}<meta name="author" content="{{.}}">
{{end}}{{with .Description}}<meta name="description" content="{{.}}">
{{end}}<link rel="icon" href="data:,">
{{.Styles}}</head>
<body>
<main class="reveal"><div class="slides">
{{.HTML}}
</div></main>
<script type="application/json" id="deck">{{.Config}}</script>
{{.Scripts}}</body>
</html>
`))

// webPage is a deck as a browser shows it: the page itself, and the files beside it by name.
type webPage struct {
	html  []byte
	files map[string][]byte
	nonce string // of its scripts
}

// Deck is what is rendered. A tag names the deck's field that a field holds.
type Deck struct {
	Title, Author, Description, HTML string

	Language             string  `field:"language"`
	CSS                  string  `field:"css"`
	Width                int     `field:"width"`
	Height               int     `field:"height"`
	Margin               float64 `field:"margin"` // of the viewer; a PDF has its own
	Transition           string  `field:"transition"`
	BackgroundTransition string  `field:"background_transition"`
	ThemeFont            string  `field:"theme_font"`
	ThemeColor           string  `field:"theme_color"`
	RTL                  bool    `field:"rtl"`
	Loop                 bool    `field:"loop"`

	// File returns a file that the deck refers to and that is kept here; what it does not
	// know is left out. Nil knows none.
	File func(ctx context.Context, address string) (data []byte, typ string, err error) `json:"-"`

	asked map[string]error // addresses that File was asked for, and why it has nothing
	notes []string         // warnings about how a file was made
}

// config are the options of the framework.
type config struct {
	Width                int     `json:"width"`
	Height               int     `json:"height"`
	Margin               float64 `json:"margin"`
	Transition           string  `json:"transition"`
	BackgroundTransition string  `json:"backgroundTransition"`
	RTL                  bool    `json:"rtl"`
	Loop                 bool    `json:"loop"`
	Center               bool    `json:"center"`
	Hash                 bool    `json:"hash"`
	PostMessage          bool    `json:"postMessage"`
	Help                 bool    `json:"help"`
	ViewDistance         int     `json:"viewDistance"`

	Print bool `json:"print"`
	*printing
}

// printing are the options that count on paper.
type printing struct {
	View              string `json:"view"`
	MaxPagesPerSlide  int    `json:"pdfMaxPagesPerSlide"`
	PageHeightOffset  int    `json:"pdfPageHeightOffset"`
	SeparateFragments bool   `json:"pdfSeparateFragments"`
	// false, or how notes are shown.
	ShowNotes       any    `json:"showNotes"`
	SlideNumber     bool   `json:"slideNumber"`
	ShowSlideNumber string `json:"showSlideNumber"`
	AutoAnimate     bool   `json:"autoAnimate"`
}

// config is what the framework is told, for the screen or, with options, for paper.
func (d *Deck) config(o *Options) config {
	c := config{
		Width: d.Width, Height: d.Height, Margin: d.Margin, Transition: cmp.Or(d.Transition, "slide"),
		BackgroundTransition: cmp.Or(d.BackgroundTransition, "slide"), RTL: d.RTL, Loop: d.Loop, Hash: true, Help: true, ViewDistance: 3,
	}
	if o == nil {
		return c
	}
	c.Margin, c.Hash, c.Help, c.Print = o.Margin, false, false, true
	c.printing = &printing{
		// However high a slide is, it is one page: the framework would otherwise divide it over any number of
		// them. Separate fragments are its default and not the service's, so that is always said.
		View: "print", MaxPagesPerSlide: 1, SeparateFragments: o.SeparateFragments, ShowNotes: false,
		SlideNumber: o.SlideNumber, ShowSlideNumber: "all",
	}
	if o.SlideNotes {
		c.ShowNotes = "separate-page"
	}
	return c
}

// plugin is a part of the framework that only some decks need.
type plugin struct {
	needed  func(html string) bool
	scripts []string
	style   string
	beside  func() ([]string, error) // files that stand beside the page: a style sheet, and what it finds there by its place
}

var plugins = []plugin{
	{needed: hasAny("data-markdown"), scripts: []string{theme.Markdown}},
	{needed: hasAny("<pre", "data-markdown"), scripts: []string{theme.Highlight}, style: theme.HighlightCSS},
	{needed: theme.HasFormulas, scripts: []string{theme.Katex, theme.KatexAuto}, beside: theme.FormulaFiles},
}

func hasAny(marks ...string) func(string) bool {
	return func(html string) bool {
		return slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(html, mark) })
	}
}

// lastNotes has no empty page follow speaker notes at the end.
const lastNotes = "\nhtml.reveal-print .reveal .slides > .speaker-notes-pdf:last-child { break-after: avoid; }\n"

// page makes the page of a deck, with everything it needs but a browser.
func (d *Deck) page(ctx context.Context, o *Options) (*webPage, error) {
	p := &webPage{files: map[string][]byte{}}
	own := &assets{ctx: ctx, deck: d, files: p.files, names: map[string]string{}}
	html := own.html() // without its pictures it is searched soon
	styles, scripts, err := p.framework(html)
	if err != nil {
		return nil, err
	}
	fonts := theme.FontFiles(d.ThemeFont)
	for _, name := range fonts {
		family, _, _ := strings.Cut(strings.TrimPrefix(name, "fonts/"), "-latin")
		fonts = append(fonts, "licenses/"+family+".txt")
	}
	if err := p.read("", fonts...); err != nil {
		return nil, err
	}
	p.files["theme.css"] = []byte(theme.CSS(d.ThemeColor, d.ThemeFont, ""))
	p.files["deck.css"] = []byte(own.css(d.CSS))
	if o != nil {
		p.files["deck.css"] = append(p.files["deck.css"], lastNotes...)
	}
	p.files[theme.ScriptName], p.files["start.js"] = theme.Script, startScript
	styles, scripts = append(styles, "theme.css", "deck.css"), append(scripts, theme.ScriptName, "start.js")
	if o != nil {
		p.html, err = d.write(html, d.config(o), p.inlineStyles(styles), p.inlineScripts(scripts))
		return p, err
	}
	p.nonce = secretOf(html, d)
	p.html, err = d.write(html, d.config(o), p.archivePolicy()+linkStyles(styles), p.linkScripts(scripts))
	return p, err
}

// framework reads the parts of the framework that a deck needs.
func (p *webPage) framework(html string) (styles, scripts []string, err error) {
	styles = []string{"reveal/" + theme.ResetCSS, "reveal/" + theme.RevealCSS}
	scripts = []string{"reveal/" + theme.Reveal}
	names := []string{theme.ResetCSS, theme.RevealCSS, theme.Reveal, "licenses/reveal.js.txt"}
	for _, plug := range plugins {
		if !plug.needed(html) {
			continue
		}
		for _, script := range plug.scripts {
			scripts, names = append(scripts, "reveal/"+script), append(names, script)
		}
		if plug.style != "" {
			styles, names = append(styles, "reveal/"+plug.style), append(names, plug.style)
		}
		if plug.beside == nil {
			continue
		}
		files, err := plug.beside()
		if err == nil {
			err = p.read("", files...)
		}
		if err != nil {
			return nil, nil, err
		}
		styles = append(styles, files[0])
	}
	return styles, scripts, p.read("reveal/", names...)
}

// read takes files that are built into the program.
func (p *webPage) read(to string, names ...string) error {
	built, err := theme.Files()
	if err != nil {
		return fault.Wrap(err, "rendering").WithCode(fault.CodeRendererUnavailable)
	}
	for _, name := range names {
		if p.files[to+name], err = fs.ReadFile(built, name); err != nil {
			return fault.Unavailable.Errorf("rendering: %s is not built into this program", name).WithCode(fault.CodeRendererUnavailable)
		}
	}
	return nil
}

// write fills the page in.
func (d *Deck) write(html string, c config, styles, scripts template.HTML) ([]byte, error) {
	config, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = pageTemplate.Execute(&b, map[string]any{
		"Title": d.Title, "Author": d.Author, "Description": d.Description, "Language": cmp.Or(d.Language, "en"),
		"Direction": map[bool]string{true: "rtl", false: "ltr"}[d.RTL], "Styles": styles,
		"Scripts": scripts, "HTML": template.HTML(html), //nolint:gosec // cleaned when it was written
		// Without a < in it, no text of the deck can end the element that holds the JSON.
		"Config": template.JS(strings.ReplaceAll(string(config), "<", `\u003c`)), //nolint:gosec // JSON
	})
	return b.Bytes(), err
}
