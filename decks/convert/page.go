package convert

import (
	"strings"

	"golang.org/x/net/html"

	"catena/storage/fault"
	"catena/storage/lazy"
)

var themeLink = lazy.Regexp(`(?:^|/)theme/([a-z0-9_-]+)(?:\.min)?\.css(?:$|\?)`)

// page reads a page of reveal.js token by token, so that what is within slides keeps its bytes.
type page struct {
	d        Deck
	slides   strings.Builder
	sections int    // open
	within   int    // elements open within the one that holds the slides; 0: not there
	in       string // title, style or script whose text comes next
	all      bool   // the page has no element that holds the slides: every section is one
}

// readHTML reads a whole page, or sections alone.
func readHTML(src string) (*Deck, error) {
	p := &page{all: !holdsSlides(src)}
	z := html.NewTokenizer(strings.NewReader(src))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		raw := string(z.Raw()) // before Token, which unescapes text where it stands
		p.token(kind, raw, z.Token())
	}
	// A page that was cut off still gives whole slides.
	for ; p.sections > 0; p.sections-- {
		p.slides.WriteString("</section>")
	}
	p.d.HTML = strings.TrimSpace(p.slides.String())
	if p.d.HTML == "" {
		return nil, fault.Invalid.Errorf("HTML: contains no <section>").WithCode(fault.CodeInvalidHTML)
	}
	return &p.d, nil
}

// holdsSlides reports whether a page has an element of class slides.
func holdsSlides(src string) bool {
	z := html.NewTokenizer(strings.NewReader(src))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.StartTagToken && isSlides(z.Token()) {
			return true
		}
	}
	return false
}

func isSlides(t html.Token) bool {
	return t.Data != "section" && strings.Contains(" "+value(t, "class")+" ", " slides ")
}

func (p *page) token(kind html.TokenType, raw string, t html.Token) {
	switch {
	case kind == html.StartTagToken && t.Data == "section" && (p.all || p.within > 0):
		if p.sections == 0 && p.slides.Len() > 0 {
			p.slides.WriteByte('\n')
		}
		p.sections++
	// An end tag without a section that is open is dropped, so that the result is balanced.
	case kind == html.EndTagToken && t.Data == "section" && p.sections > 0:
		if p.sections--; p.sections == 0 {
			p.slides.WriteString(raw)
			return
		}
	case p.sections == 0:
		p.outside(kind, raw, t)
		return
	}
	p.slides.WriteString(raw)
}

// outside reads what is around the slides.
func (p *page) outside(kind html.TokenType, raw string, t html.Token) {
	switch {
	case kind == html.TextToken:
		p.text(raw)
		return
	case kind == html.StartTagToken && isSlides(t):
		p.within = 1
	// Only div elements are counted: the end tags of others may be missing, and the holder of the slides is a div.
	case p.within > 0 && kind == html.StartTagToken && t.Data == "div":
		p.within++
	case p.within > 0 && kind == html.EndTagToken && t.Data == "div":
		p.within--
	}
	p.in = ""
	if kind == html.StartTagToken || kind == html.SelfClosingTagToken {
		p.head(t)
		p.look(t)
	}
}

// look reads the classes by which exports of slides.com name the colours and fonts of their theme.
func (p *page) look(t html.Token) {
	for class := range strings.FieldsSeq(value(t, "class")) {
		for prefix, name := range map[string]string{"theme-color-": "theme_color", "theme-font-": "theme_font"} {
			if theme, ok := strings.CutPrefix(class, prefix); ok {
				p.d.set(name, theme)
			}
		}
	}
}

// head reads an element that describes the whole page.
func (p *page) head(t html.Token) {
	switch t.Data {
	case "html":
		p.d.set("language", value(t, "lang"))
	case "title", "style", "script":
		p.in = t.Data
	case "meta":
		if strings.EqualFold(value(t, "name"), "description") {
			p.d.Description = value(t, "content")
		}
	case "link":
		if m := themeLink().FindStringSubmatch(value(t, "href")); m != nil {
			p.d.Theme = m[1]
		}
	}
}

func (p *page) text(raw string) {
	switch p.in {
	case "title":
		p.d.Title = strings.Join(strings.Fields(html.UnescapeString(raw)), " ")
	case "style":
		p.d.CSS = strings.TrimSpace(p.d.CSS + "\n" + strings.TrimSpace(raw))
	case "script":
		p.configure(raw)
	}
}

func value(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
