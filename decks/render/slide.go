package render

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// slide is one page of a deck before fragments are told apart.
type slide struct {
	section *html.Node
	notes   string
	steps   []step // groups of fragments in the order they appear
	counted bool
	centred bool // stands in the middle of the page: its blocks have no places of their own
}

// step is a group of fragments that appear together.
type step []*html.Node

// parse reads a deck as a browser with the framework does: Markdown becomes HTML, hidden
// slides are gone, and slides of a stack have its background unless they have their own.
func parse(ctx context.Context, d *Deck) (root *html.Node, slides []slide, err error) {
	body := &html.Node{Type: html.ElementNode, DataAtom: atom.Div, Data: "div"}
	nodes, err := html.ParseFragment(strings.NewReader(d.HTML), body)
	if err != nil {
		return nil, nil, err
	}
	root = element("div", "class", "slides")
	for _, n := range nodes {
		root.AppendChild(n)
	}
	if err := expandAll(ctx, root); err != nil {
		return nil, nil, err
	}
	prune(root)
	for s := range sections(root) {
		inner := false
		for leaf := range sections(s) {
			inner = true
			// The stack itself is not a page, so its background is seen only on its slides.
			inherit(s, leaf)
			slides = append(slides, newSlide(leaf))
		}
		if !inner {
			slides = append(slides, newSlide(s))
		}
	}
	return root, slides, nil
}

func newSlide(section *html.Node) slide {
	s := slide{section: section, notes: notesOf(section), counted: attr(section, "data-visibility") != "uncounted"}
	s.steps = stepsOf(section)
	s.centred = !hasClass(section, "top")
	for n := range section.Descendants() {
		if n.Type == html.ElementNode && (hasClass(n, "sl-block") || absolute.MatchString(attr(n, "style"))) {
			s.centred = hasClass(section, "center")
			break
		}
	}
	return s
}

var absolute = regexp.MustCompile(`position\s*:\s*absolute`)

// sections walks the sections directly in n.
func sections(n *html.Node) func(yield func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		var next *html.Node
		for c := n.FirstChild; c != nil; c = next {
			// Read before the caller has c, who may remove or replace it.
			next = c.NextSibling
			if c.Type == html.ElementNode && c.Data == "section" && !yield(c) {
				return
			}
		}
	}
}

// prune takes out hidden slides and empty stacks that only hid some.
func prune(root *html.Node) {
	for s := range sections(root) {
		stack := false
		for leaf := range sections(s) {
			stack = true
			if attr(leaf, "data-visibility") == "hidden" {
				s.RemoveChild(leaf)
			}
		}
		left := false
		for range sections(s) {
			left = true
		}
		if attr(s, "data-visibility") == "hidden" || stack && !left {
			root.RemoveChild(s)
		}
	}
}

const backgroundPrefix = "data-background"

func inherit(stack, leaf *html.Node) {
	for _, a := range leaf.Attr {
		// A slide with any background of its own takes nothing from the stack, as a colour on top of a picture would.
		if strings.HasPrefix(a.Key, backgroundPrefix) && a.Key != "data-background-transition" {
			return
		}
	}
	for _, a := range stack.Attr {
		if strings.HasPrefix(a.Key, backgroundPrefix) {
			leaf.Attr = append(leaf.Attr, a)
		}
	}
}

// notesOf returns the speaker notes of a slide as text.
func notesOf(section *html.Node) string {
	if text := strings.TrimSpace(attr(section, "data-notes")); text != "" {
		return text
	}
	var all []string
	for n := range section.Descendants() {
		if n.Type == html.ElementNode && n.Data == "aside" && hasClass(n, "notes") {
			if text := strings.TrimSpace(textOf(n)); text != "" {
				all = append(all, text)
			}
		}
	}
	return strings.Join(all, "\n\n")
}

// textOf is the text of an element, blocks on lines of their own.
func textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && (n.Data == "br" || n.Data == "p" || n.Data == "li" || n.Data == "div"):
			b.WriteByte('\n')
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// stepsOf groups the fragments of a slide as the framework does: those with an index by
// the index, all others one by one after them.
func stepsOf(section *html.Node) []step {
	indexed := map[int]step{}
	var single []step
	for n := range section.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "code" && n.Parent != nil && n.Parent.Data == "pre" {
			// Each bar is a further highlight of lines, which the framework counts as a fragment.
			for range strings.Count(attr(n, "data-line-numbers"), "|") {
				single = append(single, step{nil})
			}
		}
		if !hasClass(n, "fragment") {
			continue
		}
		index, err := strconv.Atoi(attr(n, "data-fragment-index"))
		if err != nil || index < 0 {
			single = append(single, step{n})
			continue
		}
		indexed[index] = append(indexed[index], n)
	}
	// Indexes are whatever the deck says, so they are sorted and not counted up to.
	var out []step
	for _, i := range slices.Sorted(maps.Keys(indexed)) {
		out = append(out, indexed[i])
	}
	return append(out, single...)
}

func element(name string, attrs ...string) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	for i := 0; i+1 < len(attrs); i += 2 {
		n.Attr = append(n.Attr, html.Attribute{Key: attrs[i], Val: attrs[i+1]})
	}
	return n
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasAttr(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

func hasClass(n *html.Node, class string) bool {
	for c := range strings.FieldsSeq(attr(n, "class")) {
		if c == class {
			return true
		}
	}
	return false
}
