package convert

import (
	"bytes"
	"context"
	"html"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	nethtml "golang.org/x/net/html"

	"catena/engine/markdown"
	"catena/storage/fault"
	fulltext "catena/storage/text"
	"catena/storage/work"
)

// text reads the source as UTF-8.
// The result is always valid UTF-8.
func (s *source) text() (string, error) {
	data, err := s.blob.Bytes(maxText)
	if err != nil {
		return "", err
	}
	return fulltext.Decode(data, s.blob.Encoding, s.blob.Type), nil
}

// isHTML reports whether the source is a page already.
func (s *source) isHTML() bool {
	return s.blob.Type == "text/html" || s.blob.Type == "application/xhtml+xml"
}

// fromMarkdown makes HTML of Markdown; HTML within it is left out.
var fromMarkdown = markdown.New(goldmark.WithExtensions(extension.GFM))

// page makes a page of HTML of the source.
func (s *source) page() (string, error) {
	text, err := s.text()
	if fulltext.IsMessage(s.blob.Type) {
		text, err = s.officeText()
	}
	if err != nil {
		return "", err
	}
	if s.isHTML() {
		// A whole page is returned as it is, scripts included: what serves the result must see to
		// it that browsers do not run them.
		if strings.Contains(strings.ToLower(text), "<html") {
			return text, nil
		}
		return wrap(s.blob.Name, text), nil
	}
	// Plain text, JSON, XML and SVG are shown as their source, escaped: an SVG is not drawn.
	if s.blob.Type != "text/markdown" {
		return wrap(s.blob.Name, "<pre>"+html.EscapeString(text)+"</pre>"), nil
	}
	var body bytes.Buffer
	if err := fromMarkdown.Convert(s.ctx, []byte(text), &body); err != nil {
		return "", err
	}
	return wrap(s.blob.Name, body.String()), nil
}

func wrap(title, body string) string {
	return "<!DOCTYPE html>\n<html><head><meta charset=\"UTF-8\"><title>" + html.EscapeString(title) + "</title></head><body>\n" +
		body + "\n</body></html>\n"
}

func isOffice(typ string) bool {
	return slices.ContainsFunc(office, func(from string) bool { return strings.HasPrefix(typ, strings.TrimSuffix(from, "*")) })
}

// officeText is the text of an office document or a message, as far as full text looks at it.
func (s *source) officeText() (string, error) {
	r, err := s.blob.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := fulltext.Read(r, s.blob.Size, s.blob.Type, s.blob.Name)
	if err != nil {
		return "", fault.Invalid.Errorf("the document cannot be read: %w", err)
	}
	return strings.TrimSpace(text) + "\n", nil
}

func toHTML(s *source) ([]byte, string, error) {
	page, err := s.page()
	return []byte(page), "text/html", err
}

func toText(s *source) ([]byte, string, error) {
	if isOffice(s.blob.Type) || fulltext.IsMessage(s.blob.Type) {
		text, err := s.officeText()
		return []byte(text), "text/plain", err
	}
	if !s.isHTML() && s.blob.Type != "text/markdown" {
		text, err := s.text()
		return []byte(text), "text/plain", err
	}
	page, err := s.page()
	if err != nil {
		return nil, "", err
	}
	blocks, err := blocksOf(s.ctx, page)
	if err != nil {
		return nil, "", err
	}
	var out strings.Builder
	for i, b := range blocks {
		// Paragraphs are separated by an empty line, the items of one list are not.
		if i > 0 && (!b.listed() || !blocks[i-1].listed()) {
			out.WriteByte('\n')
		}
		out.WriteString(b.mark)
		for _, r := range b.runs {
			out.WriteString(r.text)
		}
		out.WriteByte('\n')
	}
	return []byte(out.String()), "text/plain", nil
}

// block is a paragraph of a page.
type block struct {
	heading int    // 1 to 6, 0 for none
	indent  int    // levels of lists and quotations
	mark    string // of a list item
	code    bool   // white space counts
	rule    bool   // a line across the page
	runs    []run
}

func (b *block) listed() bool { return b.mark != "" }

// run is text in one style.
type run struct {
	text         string
	bold, italic bool
	code         bool
}

// maxDepth bounds elements within elements; what is deeper is left out.
const maxDepth = 200

// blocksOf takes a page apart into its paragraphs.
func blocksOf(ctx context.Context, page string) ([]block, error) {
	root, err := nethtml.Parse(work.Reader(ctx, strings.NewReader(page)))
	if err != nil {
		return nil, fault.Invalid.Errorf("html: %w", err)
	}
	l := &layout{}
	l.walk(root, state{}, 0)
	l.end(state{})
	return l.blocks, nil
}
