package html

import (
	"strings"

	"golang.org/x/net/html"

	"catena/storage/lazy"
)

// Markdown is filtered as text and as HTML, but its readers find tags, code and quotations in other places than a reader
// of HTML does. Hence nothing in it may begin a tag that the filter has not seen as one: not in a value, a remark or
// an end tag, nor by going on over lines, whose marks of quotations a reader of Markdown takes away. The framework also
// makes attributes of what stands behind a fence, and of remarks.

// marking follows the Markdown of a slide.
type marking struct {
	element string // that has Markdown and is no section
	open    int    // elements of its name open in it, with itself
	fenced  bool   // the line has a fence
	ticks   string // what may become a fence with what follows
	tail    string // of the text before, squeezed: what follows may go on with it
	custom  bool   // the slide says how remarks begin
}

var (
	asMarkdown  = strings.NewReplacer("&", "&amp;", "<", "&lt;")
	scriptColon = lazy.Regexp(`(?i)((?:script|data)[\s\x00-\x20\\]*):`)
	autolink    = lazy.Regexp("^<(?:https?|mailto):[A-Za-z0-9._~:/?#@!$&()*+,;%-]+>$") // no element of HTML, nor a value
	remarked    = lazy.Regexp(`([^"= ]+)="([^"]*)"`)
	anyEvent    = lazy.Regexp(`on[a-z]{3,}$|srcdoc$|action$|ping$`)
)

// track follows the element that has Markdown in a slide.
func (m *marking) track(name string, attrs []attribute, by int) {
	m.custom = m.custom || has(attrs, "data-attributes") || has(attrs, "data-element-attributes")
	switch {
	case name == "section":
		m.fenced, m.ticks, m.tail = false, "", ""
	case m.open > 0 && name == m.element:
		m.open += by
	case m.open == 0 && by > 0 && has(attrs, "data-markdown"):
		m.element, m.open = name, 1
	}
}

// isRead reports whether text is Markdown here. Where an element ends is uncertain once something was left open.
func (f *filter) isRead() bool {
	return f.inner || f.isMarkdown() || f.marking.open > 0 || f.marked && f.balance.loose
}

// markdown takes out of text what Markdown would bring to life.
func (f *filter) markdown(raw string) string {
	read := raw
	if !f.inner { // the framework reads what a browser makes of the text
		read = html.UnescapeString(raw)
	}
	text := read
	if !f.inner && strings.Contains(text, "<") {
		text = asMarkdown.Replace(text)
	}
	text = f.unscripted(text)
	if text != read {
		f.remove("hidden script", f.at)
	}
	text = f.unquoted(text)
	if !f.inner {
		f.tail(read, text)
		if text != read {
			return asMarkdown.Replace(text)
		}
	}
	if text == read {
		return raw
	}
	return text
}

const tailBytes = 64

// tail notes what the next text may go on with, which the framework reads as one with this.
func (f *filter) tail(read, text string) {
	if text != read {
		f.marking.tail = ""
		return
	}
	joined := f.marking.tail + squeezed(read[max(0, len(read)-tailBytes):])
	f.marking.tail = joined[max(0, len(joined)-tailBytes):]
}

// unscripted is text without addresses that run a script.
func (f *filter) unscripted(text string) string {
	if !f.acts(text) {
		return text
	}
	if text = asMarkdown.Replace(text); f.acts(text) {
		text = scriptColon().ReplaceAllString(text, "$1&amp;colon;")
	}
	if f.acts(text) { // it goes on with the text before
		text = strings.ReplaceAll(text, ":", "&amp;colon;")
	}
	return text
}

func (f *filter) acts(text string) bool { return acts(f.marking.tail + html.UnescapeString(text)) }

// acts reports whether text holds an address that runs a script.
func acts(s string) bool {
	if strings.IndexByte(s, ':') < 0 {
		return false
	}
	s = strings.ReplaceAll(squeezed(s), `\`, "") // Markdown takes them away
	return strings.Contains(s, "javascript:") || strings.Contains(s, "vbscript:") || strings.Contains(s, "data:text/html")
}

// unquoted is text without quotation marks behind fences: the framework writes what stands there into an attribute as it is.
func (f *filter) unquoted(text string) string {
	m := &f.marking
	if !m.fenced && m.ticks == "" && !strings.ContainsAny(text, "`~") {
		return text
	}
	var b strings.Builder
	for text != "" {
		line, end := text, strings.IndexAny(text, "\r\n")
		if end >= 0 {
			line = text[:end]
		}
		text = text[len(line):]
		joined := m.ticks + line
		from := 0
		if !m.fenced {
			from = fenceIn(joined)
			m.fenced = from >= 0
			from -= len(m.ticks)
		}
		if m.fenced {
			from = max(from, 0)
			line = line[:from] + strings.ReplaceAll(line[from:], `"`, "&quot;")
		}
		b.WriteString(line)
		m.ticks = joined[len(strings.TrimRight(joined, "`~")):]
		m.ticks = m.ticks[max(0, len(m.ticks)-2):]
		if text != "" {
			b.WriteByte(text[0])
			text, m.fenced, m.ticks = text[1:], false, ""
		}
	}
	return b.String()
}

// fenceIn is the place of the first fence in a line, -1 without one.
func fenceIn(line string) int {
	a, b := strings.Index(line, "```"), strings.Index(line, "~~~")
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// clear reports whether Markdown brings nothing to life in text that stays as it is.
func (f *filter) clear(text string) bool {
	was := f.marking
	quoted := f.unquoted(text) != text
	f.marking = was
	return !quoted && !f.acts(text)
}

// remark reports whether a comment in Markdown may stay: the framework sets attributes that it names.
func (f *filter) remark(body string) bool {
	for _, m := range remarked().FindAllStringSubmatch(body, -1) {
		a := attribute{strings.ToLower(strings.TrimSpace(m[1])), m[2]}
		if !harmlessAnywhere(a) || f.marking.custom && (anyEvent().MatchString(a.name) || !HarmlessCSS(a.value)) {
			return false
		}
	}
	return f.clear(body)
}

// whole reports whether a tag reads the same in Markdown: on one line, and without anything that begins another one.
func (f *filter) whole(tag string) bool {
	return !f.inner || strings.IndexByte(tag[1:], '<') < 0 && !strings.ContainsAny(tag, "\r\n")
}
