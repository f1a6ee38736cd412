package html

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// templateType is that of scripts that stay: text for Markdown and code. Formulas stay too: no browser runs them.
const templateType = "text/template"

var texType = regexp.MustCompile(`(?i)^\s*math/tex\s*(?:;\s*mode\s*=\s*display\s*)?$`)

// textual handles an element whose content is text: templates and style sheets stay if they
// are harmless, the content of titles is text, frames lose their content, all others are removed.
func (f *filter) textual(stays bool) {
	t := f.token
	var body token
	if f.next() == html.TextToken {
		body = f.token
		f.next()
	}
	complete := f.kind == html.EndTagToken && t.kind != html.SelfClosingTagToken
	if !stays || !complete || !f.staysTextual(&t, body.raw) {
		f.remove("<"+t.name+">", t.at)
		return
	}
	end := f.token
	f.write(&t, f.keep(&t))
	text, at := body.raw, t.at+len(t.raw)
	switch {
	case t.name == "title":
		text = strings.ReplaceAll(text, "<", "&lt;")
	case t.name == "script" && !isTeX(t.attrs):
		text = f.template(text, at)
	case t.name == "iframe" && strings.TrimSpace(text) != "":
		f.remove("content of <iframe>", at)
		text = ""
	}
	f.outline.read(strings.ReplaceAll(text, "\x00", "\ufffd"), t.name != "title")
	if text == body.raw {
		f.out.keep(text, at)
	} else {
		f.out.write(text)
	}
	f.writeEnd(&end)
}

// staysTextual reports whether an element whose content is text is harmless. In a drawing or a
// formula only titles are: a browser reads the content of the others there as elements.
func (f *filter) staysTextual(t *token, content string) bool {
	switch t.name {
	case "title":
		return true
	case "script":
		return f.foreign == 0 && (isTemplate(t.attrs) || isTeX(t.attrs) && !f.inner && !strings.Contains(content, "<!"))
	case "style":
		return f.foreign == 0 && HarmlessCSS(content)
	}
	return f.foreign == 0 && t.name == "iframe"
}

func isTemplate(attrs []attribute) bool { return isTemplateType(valueOf(attrs, "type")) }

func isTemplateType(typ string) bool { return strings.EqualFold(strings.TrimSpace(typ), templateType) }

func isTeX(attrs []attribute) bool { return texType.MatchString(valueOf(attrs, "type")) }

// template cleans what a template would put on the page, which stands at a position.
func (f *filter) template(body string, at int) string {
	inner := newFilter(body)
	inner.inner, inner.base = true, f.position(at)
	inner.base.at = 0
	inner.from = inner.base
	_ = inner.run() // refuses nothing in a template
	f.removed = append(f.removed, inner.removed...)
	if out := inner.out.String(); !strings.Contains(strings.ToLower(out), "</script") {
		return out
	}
	return ""
}
