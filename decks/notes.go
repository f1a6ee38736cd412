package decks

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// Speaker notes in Markdown run from a line that begins with "note:" to the end of the slide.
var (
	mdNotes = regexp.MustCompile(`(?i)^\s*notes?:`)
	mdSlide = regexp.MustCompile(`^\s*-{2,}\s*$`)
)

// withoutNotes takes the speaker notes out of clean HTML.
func withoutNotes(src string) string {
	z := html.NewTokenizer(strings.NewReader(src))
	var out strings.Builder
	out.Grow(len(src))
	var markdown []bool // of the open sections
	aside, template := 0, false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.String()
		}
		raw := string(z.Raw())
		t := z.Token()
		inMarkdown := template || len(markdown) > 0 && markdown[len(markdown)-1]
		switch {
		case aside > 0:
			switch {
			case t.Data != "aside":
			case kind == html.StartTagToken:
				aside++
			case kind == html.EndTagToken:
				aside--
			}
			continue
		case kind == html.TextToken && inMarkdown:
			raw = markdownWithoutNotes(raw)
		case kind == html.EndTagToken && t.Data == "section" && len(markdown) > 0:
			markdown = markdown[:len(markdown)-1]
		case t.Data == "script":
			template = kind == html.StartTagToken
		case kind != html.StartTagToken:
		case t.Data == "section":
			markdown = append(markdown, inMarkdown || has(t, "data-markdown"))
			if has(t, "data-notes") {
				raw = tagWithout(t, "data-notes")
			}
		case t.Data == "aside" && isNotes(t):
			aside = 1
			continue
		}
		out.WriteString(raw)
	}
}

func markdownWithoutNotes(text string) string {
	lines := strings.SplitAfter(text, "\n")
	kept, notes := lines[:0], false
	for _, line := range lines {
		switch {
		case mdSlide.MatchString(line):
			notes = false
		case mdNotes.MatchString(line):
			notes = true
		}
		if !notes {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func isNotes(t html.Token) bool { return strings.Contains(" "+attr(t, "class")+" ", " notes ") }

func has(t html.Token, name string) bool {
	for _, a := range t.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func tagWithout(t html.Token, name string) string {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		if a.Key != name {
			kept = append(kept, a)
		}
	}
	t.Attr = kept
	return t.String()
}
