package convert

import (
	"context"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"catena/storage/lazy"
)

// settings are what Markdown says about a slide, and the attributes that say it in HTML.
var settings = map[string]string{
	// Marp's names come first; background, class and transition are also Slidev's.
	"backgroundColor": "data-background-color",
	"backgroundImage": "data-background-image",
	"background":      "data-background-image",
	"class":           "class",
	"transition":      "data-transition",
}

// known are settings that a deck has no use for, but that are no notes either.
var known = map[string]bool{
	"theme": true, "paginate": true, "header": true, "footer": true, "color": true, "size": true, "style": true, "marp": true,
	"headingDivider": true, "math": true, "backgroundPosition": true, "backgroundRepeat": true, "backgroundSize": true, "fit": true,
	"slide": true, "element": true,
}

// about reads what the front matter says about the whole deck.
func (d *Deck) about(front map[string]any) {
	text := func(names ...string) string {
		for _, name := range names {
			if v := strings.TrimSpace(scalar(front[name])); v != "" {
				return v
			}
		}
		return ""
	}
	d.Title, d.Description = text("title"), text("description", "info")
	d.Theme, d.CSS = text("theme"), text("style")
	d.set("language", text("lang", "language"))
	d.set("transition", text("transition"))
	// Marp's sizes for these proportions. Width and height of their own win over them.
	switch text("size", "aspectRatio") {
	case "16:9", "16/9":
		d.Width, d.Height = 1280, 720
	case "4:3", "4/3":
		d.Width, d.Height = 960, 720
	}
	for name, to := range map[string]*int64{"width": &d.Width, "height": &d.Height} {
		if n, err := strconv.ParseInt(text(name), 10, 64); err == nil && n > 0 {
			*to = n
		}
	}
	delete(front, "transition") // of the deck, not of its first slide
}

// firstHeading is the text of the first heading of Markdown, without its markup.
func firstHeading(ctx context.Context, src string) (string, error) {
	code := codeFence("")
	for line := range strings.SplitSeq(src, "\n") {
		if code.read(line); code != "" || !heading().MatchString(line) {
			continue
		}
		written, err := render(ctx, line)
		if err != nil {
			return "", err
		}
		if text := plain(written); text != "" {
			return text, nil
		}
	}
	return "", nil
}

var heading = lazy.Regexp(`^ {0,3}#{1,6}[ \t]`)

// plain is the text of HTML.
func plain(written string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(written))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken {
			b.Write(z.Text())
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
