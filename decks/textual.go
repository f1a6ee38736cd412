package decks

import (
	"strings"

	"golang.org/x/net/html"
)

// textual handles an element whose content is text: templates and style sheets stay if they
// are harmless, titles are text, of frames the content goes, of all others everything.
func (f *filter) textual(name, raw string, all []attribute, stays, closed bool) error {
	line, column := f.line, f.column
	f.moved = true
	body, endRaw := "", ""
	next := f.z.Next()
	if next == html.TextToken {
		body = string(f.z.Raw())
		next = f.z.Next()
	}
	if next == html.EndTagToken {
		endRaw = string(f.z.Raw())
	}
	ended := endRaw != ""
	keep, text := stays && ended && !closed && f.foreign == 0, body
	switch name {
	case "script":
		keep = keep && isTemplate(all)
	case "style":
		keep = keep && harmlessCSS(body)
	case "title":
		keep, text = stays && ended && !closed, strings.ReplaceAll(body, "<", "&lt;")
	case "iframe":
	default:
		keep = false
	}
	if !keep {
		f.removeAt("<"+name+">", line, column)
		f.advance(raw + body + endRaw)
		return nil
	}
	f.line, f.column = line, column
	kept := f.keep(name, all)
	f.advance(raw)
	switch {
	case name == "script":
		text = f.template(body)
	case name == "iframe" && strings.TrimSpace(body) != "":
		f.remove("content of <iframe>")
		text = ""
	}
	f.write(name, raw, all, kept, false)
	if !sane(endRaw) {
		endRaw = "</" + name + ">"
	}
	f.out.WriteString(text + endRaw)
	f.advance(body + endRaw)
	return nil
}

func isTemplate(all []attribute) bool {
	for _, a := range all {
		if a.name == "type" {
			return strings.EqualFold(strings.TrimSpace(a.value), templateType)
		}
	}
	return false
}

// template cleans what a template would put on the page.
func (f *filter) template(body string) string {
	inner := newFilter(body)
	inner.inner, inner.line, inner.column = true, f.line, f.column
	_ = inner.run() // refuses nothing in a template
	f.removed = append(f.removed, inner.removed...)
	if out := inner.out.String(); !strings.Contains(strings.ToLower(out), "</script") {
		return out
	}
	return ""
}
