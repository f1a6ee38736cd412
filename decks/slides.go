package decks

import (
	"strings"

	"golang.org/x/net/html"
)

// slides counts the leaf sections of clean HTML and collects the speaker notes in the order
// of slides, a blank line between those of two slides, and the text that is to be seen.
func slides(src string) (count int, notes, seen string) {
	z := html.NewTokenizer(strings.NewReader(src))
	var leaf []bool // of the open sections: no section within
	var all []string
	aside := 0 // depth within an aside of notes
	var text strings.Builder
	var page plainText
	flush := func() {
		if note := strings.TrimSpace(text.String()); note != "" {
			all = append(all, note)
		}
		text.Reset()
	}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return count, strings.Join(all, "\n\n"), page.String()
		}
		switch t := z.Token(); {
		case kind == html.TextToken && aside > 0:
			text.WriteString(t.Data)
		case kind == html.TextToken:
			page.add(t.Data)
		case kind == html.EndTagToken && t.Data == "section" && len(leaf) > 0:
			if leaf[len(leaf)-1] {
				count++
			}
			leaf = leaf[:len(leaf)-1]
			aside = 0
			flush()
		case kind == html.EndTagToken && t.Data == "aside" && aside > 0:
			if aside--; aside == 0 {
				flush()
			}
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken:
		case t.Data == "section":
			if len(leaf) > 0 {
				leaf[len(leaf)-1] = false
			}
			leaf = append(leaf, true)
			text.WriteString(attr(t, "data-notes"))
			flush()
		case t.Data == "aside" && (aside > 0 || isNotes(t)):
			aside++
		case aside > 0 && (t.Data == "br" || t.Data == "p" || t.Data == "li" || t.Data == "div"):
			text.WriteByte('\n')
		}
	}
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
