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
	var heading, text, markdown strings.Builder
	skip, inside, script := 0, 0, false
	z := html.NewTokenizer(strings.NewReader(s.HTML))
	for kind := z.Next(); kind != html.ErrorToken && (heading.Len() == 0 || inside > 0); kind = z.Next() {
		switch kind {
		case html.TextToken:
			words := string(z.Text())
			switch {
			case script:
				markdown.WriteString(words)
			case skip > 0:
			case inside > 0:
				heading.WriteString(words)
			case text.Len() < 4*maxTitle:
				text.WriteString(words + " ")
			}
		case html.StartTagToken, html.EndTagToken:
			step := 1
			if kind == html.EndTagToken {
				step = -1
			}
			b, _ := z.TagName()
			switch name := string(b); {
			case name == "script":
				script = step > 0
			case hidden[name]:
				skip = max(0, skip+step)
			case len(name) == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6':
				inside = max(0, inside+step)
			}
		}
	}
	for _, found := range []string{heading.String(), text.String()} {
		if words := strings.Join(strings.Fields(found), " "); words != "" {
			return cut(words)
		}
	}
	for line := range strings.SplitSeq(markdown.String(), "\n") {
		if words := strings.Join(strings.Fields(mark.ReplaceAllString(line, "")), " "); words != "" {
			return cut(words)
		}
	}
	return ""
}

func cut(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:maxTitle-1])) + "…"
}
