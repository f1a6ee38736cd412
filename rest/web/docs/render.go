package docs

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// here marks, in the HTML of a page, addresses on this server, which a prefix replaces.
const here = "here:"

// scrollable lets what is wider than the page scroll, by the keyboard too.
var scrollable = strings.NewReplacer("<table>", `<div class="scroll" tabindex="0"><table>`, "</table>", "</table></div>", "<pre>", `<pre tabindex="0">`)

var markdown = goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// render makes a page of its source. The source is ours, so that what is wrong with it is a bug.
func render(name string, source []byte) *Page {
	doc := markdown.Parser().Parse(text.NewReader(source))
	p := &Page{Name: name}
	var current *section
	var drawn []string
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		switch n := n.(type) {
		case *ast.Heading:
			if entering {
				current = p.heading(n, source)
				return ast.WalkSkipChildren, nil
			}
		case *ast.Link:
			if entering {
				n.Destination = []byte(address(string(n.Destination)))
			}
		case *ast.Image:
			if entering {
				drawn = append(drawn, string(n.Destination))
			}
		}
		if entering && current != nil {
			current.text += words(n, source)
		}
		return ast.WalkContinue, nil
	})
	p.Summary = p.summary(doc, source)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, source, doc); err != nil {
		panic(err)
	}
	p.body = scrollable.Replace(b.String())
	for _, name := range drawn { // the renderer lets no such address through
		p.body = strings.ReplaceAll(p.body, `<img src="`+name, `<img src="`+picture(name))
	}
	return p
}

// picture makes of the name of a drawing its address: the page contains it, so that it has none on the server.
func picture(name string) string {
	drawing, err := files.ReadFile(name)
	if err != nil {
		panic(err) // as in read
	}
	return "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(drawing)
}

// heading begins a section. The first heading is the title.
func (p *Page) heading(n *ast.Heading, source []byte) *section {
	h := Heading{Level: n.Level, Text: plain(n, source)}
	if id, ok := n.AttributeString("id"); ok {
		h.ID = string(id.([]byte))
	}
	if n.Level == 1 {
		p.Title = h.Text
	} else {
		p.Contents = append(p.Contents, h)
	}
	p.sections = append(p.sections, section{Heading: h})
	return &p.sections[len(p.sections)-1]
}

// summary is the text of the first paragraph.
func (p *Page) summary(doc ast.Node, source []byte) string {
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindParagraph {
			return plain(n, source)
		}
	}
	return ""
}

// address makes of a link in the source, where pages are files, one that works on the server.
func address(link string) string {
	file, anchor, found := strings.Cut(link, "#")
	if found {
		anchor = "#" + anchor
	}
	if name, ok := strings.CutSuffix(file, ".md"); ok && !strings.Contains(name, "/") {
		return here + pathOf(name) + anchor
	}
	if strings.HasPrefix(link, "/") {
		return here + link
	}
	return link
}

// plain is the text of all that is within a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if entering {
			b.WriteString(words(n, source))
		}
		return ast.WalkContinue, nil
	})
	return strings.TrimSpace(b.String())
}

// words is the text of a node itself; what begins a block is set apart.
func words(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.Text:
		s := string(n.Segment.Value(source))
		if n.SoftLineBreak() {
			s += " "
		}
		return s
	case *ast.String:
		return string(n.Value)
	}
	if n.Type() != ast.TypeBlock {
		return ""
	}
	var b strings.Builder
	b.WriteString(" ")
	if n.Kind() == ast.KindFencedCodeBlock {
		for i := range n.Lines().Len() {
			line := n.Lines().At(i)
			b.Write(line.Value(source))
		}
	}
	return b.String()
}
