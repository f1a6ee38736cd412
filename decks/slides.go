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
		if kind == html.TextToken {
			if aside > 0 {
				text.Write(z.Text())
			} else {
				page.add(string(z.Text()))
			}
			continue
		}
		name, more := z.TagName()
		switch tag := string(name); {
		case kind == html.EndTagToken && tag == "section" && len(leaf) > 0:
			if leaf[len(leaf)-1] {
				count++
			}
			leaf = leaf[:len(leaf)-1]
			aside = 0
			flush()
		case kind == html.EndTagToken && tag == "aside" && aside > 0:
			if aside--; aside == 0 {
				flush()
			}
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken:
		case tag == "section":
			if len(leaf) > 0 {
				leaf[len(leaf)-1] = false
			}
			leaf = append(leaf, true)
			text.WriteString(attr(startTag(z, tag, more), "data-notes"))
			flush()
		case tag == "aside" && (aside > 0 || isNotes(startTag(z, tag, more))):
			aside++
		case aside > 0 && (tag == "br" || tag == "p" || tag == "li" || tag == "div"):
			text.WriteByte('\n')
		}
	}
}

// startTag is the start tag whose name was just read; reading those of every tag would cost as much as all the rest.
func startTag(z *html.Tokenizer, tag string, more bool) html.Token {
	t := html.Token{Type: html.StartTagToken, Data: tag}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		t.Attr = append(t.Attr, html.Attribute{Key: string(key), Val: string(value)})
	}
	return t
}

func attr(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
