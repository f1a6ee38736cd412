// Package docs is the manual: Markdown pages embedded in the binary, rendered to HTML when first requested, and
// searched by section. Package web puts the frame around a page.
package docs

import (
	"embed"
	"strings"
	"sync"
)

//go:embed *.md img/*.svg
var files embed.FS

// order is the reading order of the pages, by name.
var order = [...]string{"index", "start", "compose", "build", "script", "administer", "operate", "monitor", "nodes", "integrate", "decks", "commands", "settings", "glossary"}

// Page is a page of the manual.
type Page struct {
	Name     string // in its address; "index" is the first page
	Title    string
	Summary  string    // its first paragraph, as text
	Contents []Heading // the headings below the title
	body     string
	sections []section
}

// Heading is a heading of a page, which has an anchor.
type Heading struct {
	Level    int
	ID, Text string
}

// section is what a search finds: a heading with the text up to the next one.
type section struct {
	Heading
	text string
}

// read renders all pages once.
var read = sync.OnceValue(func() []*Page {
	all := make([]*Page, len(order))
	for i, name := range order {
		source, err := files.ReadFile(name + ".md")
		if err != nil {
			panic(err) // the list names a file that does not exist: a test meets it
		}
		all[i] = render(name, source)
	}
	return all
})

// Pages returns the pages in reading order.
func Pages() []*Page { return read() }

// Find returns the page with a name, or nil.
func Find(name string) *Page {
	for _, p := range read() {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// HTML returns the page with addresses on this server below a prefix.
func (p *Page) HTML(prefix string) string {
	return strings.ReplaceAll(p.body, `href="`+here, `href="`+prefix)
}

// Path is the address of the page below the server's prefix.
func (p *Page) Path() string { return pathOf(p.Name) }

func pathOf(name string) string {
	if name == order[0] {
		return "/docs"
	}
	return "/docs/" + name
}
