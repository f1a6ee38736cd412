package html

import (
	"strings"

	"golang.org/x/net/html"

	"catena/storage/lazy"
)

// templateType is that of scripts that stay: text for Markdown and code. Formulas stay too: no browser runs them.
const templateType = "text/template"

var texType = lazy.Regexp(`(?i)^\s*math/tex\s*(?:;\s*mode\s*=\s*display\s*)?$`)

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
	at := t.at + len(t.raw)
	text := body.raw
	if complete && stays && t.name == "style" && !f.staysTextual(&t, text) {
		text = f.softenSheet(&t, text, at)
	}
	if !complete || !stays || !f.staysTextual(&t, text) {
		switch {
		case complete && f.fromTextarea(&t, body.raw, at):
		case complete && f.sampled():
			f.sample(t.raw + body.raw + f.raw)
		default:
			f.remove("<"+t.name+">", t.at)
		}
		return
	}
	end := f.token
	f.write(&t, f.keep(&t))
	switch {
	case t.name == "script" && f.samples.code > 0 && f.shown():
		// shown as it is
	case t.name == "title":
		if text = strings.ReplaceAll(text, "<", "&lt;"); f.inner {
			text = f.markdown(text)
		}
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

// softenSheet takes out of a style sheet what may not stay, if anything stays without that.
func (f *filter) softenSheet(t *token, sheet string, at int) string {
	rest, gone := softened(sheet)
	if strings.TrimSpace(rest) == "" || !f.staysTextual(t, rest) {
		return sheet
	}
	for _, g := range gone {
		f.remove(g.what+" of <style>", at+g.at)
	}
	return rest
}

// staysTextual reports whether an element whose content is text is harmless. In a drawing or a
// formula only titles and style sheets are: a browser reads the content of all there as elements.
func (f *filter) staysTextual(t *token, content string) bool {
	switch t.name {
	case "title":
		return true
	case "script":
		return f.foreign == 0 && (isTemplate(t.attrs) || isTeX(t.attrs) && f.shown() && !strings.Contains(content, "<!"))
	case "style":
		return HarmlessCSS(content) && (f.foreign == 0 || HarmlessCSS(html.UnescapeString(content))) && (!f.inner || f.clear(content))
	}
	return f.foreign == 0 && t.name == "iframe"
}

func isTemplate(attrs []attribute) bool { return isTemplateType(valueOf(attrs, "type")) }

func isTemplateType(typ string) bool { return strings.EqualFold(strings.TrimSpace(typ), templateType) }

func isTeX(attrs []attribute) bool { return texType().MatchString(valueOf(attrs, "type")) }

// template cleans what a template would put on the page, which stands at a position.
func (f *filter) template(body string, at int) string {
	inner := newFilter(f.ctx, body)
	inner.inner, inner.base = true, f.position(at)
	inner.base.at = 0
	inner.from, inner.marking.custom = inner.base, f.marking.custom
	if f.isMarkdown() {
		inner.fences = fences(body, f.reads)
	}
	_ = inner.run() // refuses nothing in a template
	f.removed = append(f.removed, inner.removed...)
	if out := inner.out.String(); out == "" || isScript(out) {
		return out
	}
	f.remove("content of <script>", at)
	return ""
}

// isScript reports whether text is all that a script holds: it neither ends the element nor keeps it from ending.
func isScript(text string) bool {
	z := html.NewTokenizer(strings.NewReader("<script>" + text + "</script>"))
	z.Next()
	return z.Next() == html.TextToken && string(z.Raw()) == text && z.Next() == html.EndTagToken
}

func (f *filter) isMarkdown() bool { return len(f.md) > 0 && f.md[len(f.md)-1] }

// fromTextarea writes the template that some write as a text area as a script, which means the same to the
// framework, and reports whether it is one.
func (f *filter) fromTextarea(t *token, content string, at int) bool {
	if t.name != "textarea" || f.inner || f.foreign > 0 || !f.isMarkdown() || !has(t.attrs, "data-template") {
		return false
	}
	text := strings.TrimPrefix(html.UnescapeString(strings.ReplaceAll(content, "\x00", "")), "\n")
	text = endOfScript().ReplaceAllString(text, "__SCRIPT_END__") // as the framework writes it
	f.out.write(`<script type="` + templateType + `">` + f.template(text, at) + "</script>")
	f.outline.read(text, true)
	return true
}

var endOfScript = lazy.Regexp(`(?i)</script\s*>`)
