package render

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markup "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"catena/engine/markdown"
)

// expandAll replaces the Markdown of slides by HTML: a section becomes as many slides as the
// separators in it make.
func expandAll(ctx context.Context, root *html.Node) error {
	for s := range sections(root) {
		for leaf := range sections(s) {
			if err := expand(ctx, leaf, false); err != nil {
				return err
			}
		}
		if err := expand(ctx, s, true); err != nil {
			return err
		}
	}
	return nil
}

func expand(ctx context.Context, s *html.Node, top bool) error {
	// With a value, data-markdown names a file elsewhere, which is not fetched; Warnings tells of it.
	if !hasAttr(s, "data-markdown") || hasAttr(s, "data-markdown-parsed") || attr(s, "data-markdown") != "" {
		return nil
	}
	for _, c := range slidify(s, dedent(templateOf(s))) {
		slides, err := c.slides(ctx, s)
		if err != nil {
			return err
		}
		if top && len(slides) > 1 {
			stack := element("section")
			for _, slide := range slides {
				stack.AppendChild(slide)
			}
			slides = []*html.Node{stack}
		}
		for _, slide := range slides { // a stack within a stack is not a stack
			s.Parent.InsertBefore(slide, s)
		}
	}
	s.Parent.RemoveChild(s)
	return nil
}

// templateOf is the text of a template, or of the section itself.
func templateOf(s *html.Node) string {
	for n := range s.Descendants() {
		if n.Type == html.ElementNode && (n.Data == "script" && attr(n, "type") == "text/template" || n.Data == "textarea") {
			var b strings.Builder
			for c := range n.ChildNodes() {
				b.WriteString(c.Data)
			}
			return b.String()
		}
	}
	return textOf(s)
}

// dedent takes off the indentation that all lines share.
func dedent(s string) string {
	lines := strings.Split(strings.Trim(s, "\r\n"), "\n")
	least := -1
	for _, l := range lines {
		trimmed := strings.TrimLeft(l, " \t")
		if strings.TrimSpace(trimmed) == "" {
			continue
		}
		if n := len(l) - len(trimmed); least < 0 || n < least {
			least = n
		}
	}
	for i, l := range lines {
		lines[i] = l[min(max(least, 0), len(l)-len(strings.TrimLeft(l, " \t"))):]
	}
	return strings.Join(lines, "\n")
}

// column is one slide, or a stack, of Markdown.
type column struct {
	parts []string
	notes *regexp.Regexp
}

// slidify splits Markdown at its separators.
func slidify(s *html.Node, source string) []column {
	compile := func(name, def string) *regexp.Regexp {
		text := attr(s, name)
		if text == "" {
			text = def
		}
		if text == "" {
			return nil
		}
		// A deck may bring its own pattern: those of Go take time in proportion to the text. One that it cannot
		// read (JavaScript has more) divides nothing.
		re, err := regexp.Compile(`(?m)` + text)
		if err != nil {
			return nil
		}
		return re
	}
	notes := compile("data-separator-notes", `^\s*notes?:`)
	if notes != nil {
		notes = regexp.MustCompile(`(?i)` + notes.String())
	}
	var out []column
	for _, part := range split(compile("data-separator", `\r?\n---\r?\n`), source) {
		out = append(out, column{split(compile("data-separator-vertical", ""), part), notes})
	}
	return out
}

func split(re *regexp.Regexp, s string) []string {
	if re == nil {
		return []string{s}
	}
	// Whatever the pattern matches, no more parts are made than a file may have pages.
	return re.Split(s, maxPages)
}

func (c column) slides(ctx context.Context, like *html.Node) ([]*html.Node, error) {
	var out []*html.Node
	for _, part := range c.parts {
		s, err := c.slide(ctx, like, part)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func (c column) slide(ctx context.Context, like *html.Node, source string) (*html.Node, error) {
	s := element("section")
	for _, a := range like.Attr {
		if !strings.HasPrefix(a.Key, "data-separator") && a.Key != "data-markdown" {
			s.Attr = append(s.Attr, a)
		}
	}
	notes := ""
	if c.notes != nil {
		if parts := c.notes.Split(source, 2); len(parts) == 2 {
			source, notes = parts[0], strings.TrimSpace(parts[1])
		}
	}
	return s, fill(ctx, s, source, notes)
}

// fromMarkdown keeps HTML within Markdown: decks were cleaned when they were written.
var fromMarkdown = markdown.New(goldmark.WithExtensions(extension.GFM, markdown.Steps), goldmark.WithRendererOptions(markup.WithUnsafe()))

// fill makes Markdown the content of a section.
func fill(ctx context.Context, s *html.Node, source, notes string) error {
	for s.FirstChild != nil {
		s.RemoveChild(s.FirstChild)
	}
	s.Attr = append(s.Attr, html.Attribute{Key: "data-markdown-parsed", Val: "true"})
	body := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	add := func(to *html.Node, source string) error {
		var b bytes.Buffer
		if err := fromMarkdown.Convert(ctx, []byte(source), &b); err != nil {
			return err
		}
		nodes, err := html.ParseFragment(&b, body)
		for _, n := range nodes {
			to.AppendChild(n)
		}
		return err
	}
	if err := add(s, source); err != nil {
		return err
	}
	if notes != "" {
		aside := element("aside", "class", "notes")
		if err := add(aside, notes); err != nil {
			return err
		}
		s.AppendChild(aside)
	}
	elementAttributes(s)
	return nil
}

// What comments with attributes look like, unless the section says otherwise.
const (
	ofElement = `\.element\s*?(.+?)$`
	ofSlide   = `\.slide:\s*?(\S.+?)$`
)

// attributesIn returns the attributes that a comment holds by the pattern that an attribute of the section has; nil if it holds none.
func attributesIn(comment, pattern, usual string) []html.Attribute {
	re, err := regexp.Compile(`(?m)` + cmp.Or(pattern, usual))
	if err != nil {
		return nil
	}
	m := re.FindStringSubmatch(comment)
	if len(m) < 2 {
		return nil
	}
	z := html.NewTokenizer(strings.NewReader("<x " + strings.TrimPrefix(m[1], ":") + ">"))
	z.Next()
	return z.Token().Attr
}

// elementAttributes carries out comments like <!-- .element: class="fragment" -->: those of
// a slide go to the section, others to the element before or around.
func elementAttributes(s *html.Node) {
	for n := range s.Descendants() {
		if n.Type != html.CommentNode {
			continue
		}
		to, found := s, attributesIn(n.Data, attr(s, "data-attributes"), ofSlide)
		if found == nil {
			found = attributesIn(n.Data, attr(s, "data-element-attributes"), ofElement)
			to = n.Parent
			for p := n.PrevSibling; p != nil; p = p.PrevSibling {
				if p.Type == html.ElementNode {
					to = p
					break
				}
			}
		}
		for _, a := range found {
			// The HTML was cleaned when these attributes were still a comment, so only names that do no harm are taken.
			if a.Key == "class" || strings.HasPrefix(a.Key, "data-") {
				to.Attr = append(to.Attr, a)
			}
		}
	}
}
