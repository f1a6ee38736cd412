package decks

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"catena/storage/fault"
)

// templateType is that of the one kind of script that stays: text for Markdown and code.
const templateType = "text/template"

var scriptColon = regexp.MustCompile(`(?i)(script[\s\x00-\x20]*):`)

const (
	maxHTML    = 10 << 20
	maxSlides  = 1000
	maxNotes   = 10_000
	maxRemoved = 100 // reported
	maxPasses  = 8
)

// sanitize returns HTML with everything taken out that could act, and says what that was.
// What stays keeps its bytes. Anything but sections at the top level is refused, with its
// place. Cleaning what came out changes nothing.
func sanitize(src string) (clean string, removed []string, err error) {
	if len(src) > maxHTML {
		return "", nil, fault.Limit.Errorf("HTML: %d bytes, limit %d", len(src), maxHTML).WithCode("too_long")
	}
	clean = src
	for pass := range maxPasses {
		f := newFilter(clean)
		if err := f.run(); err != nil {
			return "", nil, err
		}
		if pass == 0 {
			removed = f.removed
		}
		out := f.out.String()
		if out == clean {
			return clean, removed, nil
		}
		clean = out
	}
	return "", nil, fault.Invalid.Errorf("HTML: cannot be made harmless").WithCode("invalid_html").At(1, 1)
}

// filter copies the tokens of HTML that may stay.
type filter struct {
	z       *html.Tokenizer
	out     strings.Builder
	line    int
	column  int
	depth   int   // sections open
	opened  []int // lines and columns of them
	foreign int   // open svg and math elements
	md      []bool
	moved   bool // the place is past the present token already
	removed []string
	inner   bool // content of a template: no sections needed, any element that is harmless
}

func newFilter(src string) *filter {
	f := &filter{z: html.NewTokenizer(strings.NewReader(src)), line: 1, column: 1}
	f.out.Grow(len(src))
	return f
}

func (f *filter) run() error {
	for {
		kind := f.z.Next()
		raw := string(f.z.Raw())
		if kind == html.ErrorToken {
			if raw != "" {
				f.remove("unfinished tag")
			}
			break
		}
		if err := f.token(kind, raw); err != nil {
			return err
		}
		if !f.moved {
			f.advance(raw)
		}
		f.moved = false
	}
	if f.depth > 0 && !f.inner {
		return fault.Invalid.Errorf("HTML: <section> at line %d, column %d is not closed", f.opened[0], f.opened[1]).
			WithCode("invalid_html").At(f.opened[0], f.opened[1])
	}
	return nil
}

func (f *filter) token(kind html.TokenType, raw string) error {
	switch kind {
	case html.TextToken:
		return f.text(raw)
	case html.CommentToken:
		f.comment(raw)
	case html.StartTagToken, html.SelfClosingTagToken:
		return f.start(kind, raw)
	case html.EndTagToken:
		return f.end(raw)
	case html.DoctypeToken:
		if f.depth == 0 && !f.inner {
			return f.refuse("a document type")
		}
		f.remove("document type")
	}
	return nil
}

// advance moves the place over what was read.
func (f *filter) advance(raw string) {
	if i := strings.LastIndexByte(raw, '\n'); i >= 0 {
		f.line += strings.Count(raw, "\n")
		f.column, raw = 1, raw[i+1:]
	}
	f.column += utf8.RuneCountInString(raw)
}

// refuse is the error of what may not stand at the top level.
func (f *filter) refuse(what string) error {
	return fault.Invalid.Errorf("HTML: only <section> elements may stand at the top level, not %s (line %d, column %d)", what, f.line, f.column).
		WithCode("invalid_html").At(f.line, f.column)
}

func (f *filter) remove(what string) { f.removeAt(what, f.line, f.column) }

func (f *filter) removeAt(what string, line, column int) {
	if len(f.removed) < maxRemoved {
		f.removed = append(f.removed, fmt.Sprintf("%s at line %d, column %d", what, line, column))
	}
}

func (f *filter) text(raw string) error {
	if f.depth == 0 && !f.inner {
		if trimmed := strings.TrimLeft(raw, " \t\r\n\f"); trimmed != "" {
			f.advance(raw[:len(raw)-len(trimmed)])
			return f.refuse("text")
		}
	}
	if strings.IndexByte(raw, 0) >= 0 {
		f.remove("NUL")
		raw = strings.ReplaceAll(raw, "\x00", "")
	}
	if f.inner || len(f.md) > 0 && f.md[len(f.md)-1] {
		raw = f.markdown(raw)
	}
	f.out.WriteString(raw)
	return nil
}

// markdown takes out of text what Markdown would bring to life.
func (f *filter) markdown(raw string) string {
	plain := html.UnescapeString(raw)
	hidden := !f.inner && strings.Contains(plain, "<")
	if !hidden && !acts(plain) {
		return raw
	}
	escaped := strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(raw)
	if acts(html.UnescapeString(escaped)) {
		escaped = scriptColon.ReplaceAllString(escaped, "$1&amp;colon;")
	}
	if escaped != raw {
		f.remove("hidden script")
	}
	return escaped
}

// acts reports whether text holds an address that runs a script.
func acts(s string) bool {
	s = squeezed(s)
	return strings.Contains(s, "javascript:") || strings.Contains(s, "vbscript:")
}

// comment keeps comments that every parser reads alike.
func (f *filter) comment(raw string) {
	body, ok := strings.CutPrefix(raw, "<!--")
	if ok {
		body, ok = strings.CutSuffix(body, "-->")
	}
	if !ok || strings.Contains(body, "--") || strings.ContainsAny(body, "<>\x00") && f.foreign > 0 ||
		strings.HasPrefix(body, ">") || strings.HasPrefix(body, "->") || strings.Contains(body, "<!-") || strings.HasSuffix(body, "-") {
		f.remove("comment")
		return
	}
	f.out.WriteString(raw)
}

func (f *filter) end(raw string) error {
	b, _ := f.z.TagName()
	name := string(b)
	switch {
	case name == "section" && !f.inner:
		if f.depth == 0 {
			return f.refuse("</section>")
		}
		f.depth--
		f.opened = f.opened[:2*f.depth]
		f.md = f.md[:f.depth]
		if f.depth == 0 {
			f.foreign = 0
		}
	case f.depth == 0 && !f.inner:
		return f.refuse("</" + name + ">")
	case name == "svg" || name == "math":
		f.foreign = max(0, f.foreign-1)
	}
	if !f.known(name) {
		return nil // its start was reported
	}
	if !sane(raw) {
		raw = "</" + name + ">"
	}
	f.out.WriteString(raw)
	return nil
}

// known reports whether the tags of an element stay.
func (f *filter) known(name string) bool {
	if f.inner {
		return !dangerous[name] && name != "" && strings.Trim(name, letters) == ""
	}
	return elements[name]
}
