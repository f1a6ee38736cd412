package decks

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// dangerous are the elements that may not even stand in a template.
var dangerous = words(
	`applet base embed form frame frameset link meta noembed noframes noscript object plaintext portal script template
	textarea xmp animate animatemotion animatetransform set foreignobject annotation-xml handler listener`,
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789-:"

// saneTag is a tag that every parser reads alike.
var saneTag = regexp.MustCompile(`^</?[a-zA-Z][a-zA-Z0-9-]*(?:\s+[a-zA-Z_][a-zA-Z0-9:_.-]*(?:\s*=\s*(?:"[^"\x00]*"|'[^'\x00]*'|[^\s"'=<>` + "`" + `\x00]+))?)*\s*/?>$`)

func sane(raw string) bool { return saneTag.MatchString(raw) }

type attribute struct{ name, value string }

// start handles a start tag: it stays as it is, stays without some attributes, or goes.
func (f *filter) start(kind html.TokenType, raw string) error {
	b, more := f.z.TagName()
	name := string(b)
	var all []attribute
	for more {
		var k, v []byte
		k, v, more = f.z.TagAttr()
		all = append(all, attribute{string(k), string(v)})
	}
	if f.depth == 0 && !f.inner && name != "section" {
		return f.refuse("<" + name + ">")
	}
	stays := f.known(name)
	if swallowed[name] {
		return f.textual(name, raw, all, stays, kind == html.SelfClosingTagToken)
	}
	if !stays {
		f.remove("<" + name + ">")
		return nil
	}
	kept := f.keep(name, all)
	if !f.inner {
		f.open(name, kept, kind == html.SelfClosingTagToken)
	}
	f.write(name, raw, all, kept, kind == html.SelfClosingTagToken)
	return nil
}

// open notes what is open from here.
func (f *filter) open(name string, kept []attribute, closed bool) {
	switch name {
	case "section":
		md := f.depth > 0 && f.md[f.depth-1]
		for _, a := range kept {
			md = md || a.name == "data-markdown"
		}
		f.md = append(f.md, md)
		f.opened = append(f.opened, f.line, f.column)
		f.depth++
	case "svg", "math":
		if !closed {
			f.foreign++
		}
	}
}

// keep returns the attributes that may stay and reports the others.
func (f *filter) keep(element string, all []attribute) []attribute {
	kept := make([]attribute, 0, len(all))
	for _, a := range all {
		if f.inner && harmlessAnywhere(a) || !f.inner && allowedAttribute(element, a.name, a.value) {
			kept = append(kept, a)
		} else {
			f.remove("attribute " + printable(a.name) + " of <" + element + ">")
		}
	}
	return kept
}

// harmlessAnywhere reports whether an attribute of any element cannot act.
func harmlessAnywhere(a attribute) bool {
	switch {
	case strings.HasPrefix(a.name, "on"), a.name == "srcdoc", a.name == "formaction", a.name == "action", a.name == "ping",
		strings.Trim(a.name, letters+"_.") != "":
		return false
	case a.name == "style":
		return harmlessCSS(a.value)
	}
	v := squeezed(a.value)
	return !strings.Contains(v, "javascript:") && !strings.Contains(v, "vbscript:") && !strings.Contains(v, "data:text/html") &&
		!strings.Contains(v, "data:image/svg") && !strings.Contains(v, "data:application")
}

func printable(name string) string {
	if len(name) > 40 || strings.Trim(name, letters+"_.") != "" {
		return "(unreadable)"
	}
	return name
}

// write puts a tag out: its own bytes if nothing was taken from it.
func (f *filter) write(name, raw string, all, kept []attribute, closed bool) {
	if len(kept) == len(all) && sane(raw) {
		f.out.WriteString(raw)
		return
	}
	f.out.WriteByte('<')
	f.out.WriteString(name)
	seen := map[string]bool{}
	for _, a := range kept {
		if seen[a.name] || a.name == "" {
			continue
		}
		seen[a.name] = true
		f.out.WriteString(` ` + a.name + `="` + html.EscapeString(a.value) + `"`)
	}
	if closed {
		f.out.WriteString(" /")
	}
	f.out.WriteByte('>')
}

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
