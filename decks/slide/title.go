package slide

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const maxTitle = 80 // characters

// hidden are the elements whose text is not on the slide.
var hidden = map[string]bool{"aside": true, "style": true, "title": true, "annotation": true}

// mark is what Markdown begins a line or surrounds words with.
var mark = regexp.MustCompile("^[#>*\\-\\s]+|<!--.*?-->|[*`]|!?\\[|\\]\\([^)]*\\)")

// Title is what a list calls a slide: its heading, or else its first words.
func (s *Slide) Title() string {
	var t titleReader
	z := html.NewTokenizer(strings.NewReader(s.HTML))
	for kind := z.Next(); kind != html.ErrorToken && (t.heading.Len() == 0 || t.inHeading > 0); kind = z.Next() {
		switch kind {
		case html.TextToken:
			t.words(string(z.Text()))
		case html.StartTagToken:
			name, _ := z.TagName()
			t.tag(string(name), 1)
		case html.EndTagToken:
			name, _ := z.TagName()
			t.tag(string(name), -1)
		}
	}
	for _, found := range []string{t.heading.String(), t.text.String()} {
		if words := strings.Join(strings.Fields(found), " "); words != "" {
			return cut(words)
		}
	}
	for line := range strings.SplitSeq(t.markdown.String(), "\n") {
		if words := strings.Join(strings.Fields(mark.ReplaceAllString(line, "")), " "); words != "" {
			return cut(words)
		}
	}
	return ""
}

// titleReader collects what a slide may be called after: its first heading, its text outside of
// headings, and its Markdown, which is in a script element.
type titleReader struct {
	heading, text, markdown strings.Builder
	inHidden, inHeading     int // open elements
	inScript                bool
}

// words takes the text between two tags.
func (t *titleReader) words(text string) {
	switch {
	case t.inScript:
		t.markdown.WriteString(text)
	case t.inHidden > 0:
	case t.inHeading > 0:
		t.heading.WriteString(text)
	case t.text.Len() < 4*maxTitle:
		t.text.WriteString(text + " ")
	}
}

// tag takes a start (1) or end (-1) tag.
func (t *titleReader) tag(name string, step int) {
	switch {
	case name == "script":
		t.inScript = step > 0
	case hidden[name]:
		t.inHidden = max(0, t.inHidden+step)
	case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
		t.inHeading = max(0, t.inHeading+step)
	}
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxTitle-1])) + "…"
}
