package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// loading are the attributes by which a page loads something.
var loading = map[string]bool{
	"src": true, "data-src": true, "poster": true, "data-background": true, "data-background-image": true, "data-background-video": true,
}

// Loads reports whether an attribute of an element has a browser load something.
func Loads(element string, a html.Attribute) bool {
	return loading[a.Key] || element == "image" && (a.Key == "href" || a.Key == "xlink:href")
}

// Rewriter changes what it is given; parts that are nil change nothing.
type Rewriter struct {
	Attribute func(element string, a html.Attribute) (string, bool)
	Sheet     func(css string) string
	Markdown  func(text string) string // as it stands in the source: outside of templates, with references to characters
}

// Rewrite copies HTML and changes values of attributes, style sheets and Markdown; what has no changes
// keeps its bytes.
func Rewrite(src string, by Rewriter) string {
	r := rewriting{Rewriter: by}
	z := html.NewTokenizer(strings.NewReader(src))
	r.out.Grow(len(src))
	for {
		kind := z.Next()
		raw := z.Raw()
		switch kind {
		case html.ErrorToken:
			r.out.Write(raw)
			return r.out.String()
		case html.TextToken, html.CommentToken:
			r.text(string(raw))
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(string(raw), z.Token(), kind == html.StartTagToken)
		case html.EndTagToken:
			r.out.Write(raw)
			if name, _ := z.TagName(); string(name) == r.element {
				r.open--
			}
			r.style, r.template = false, false
		case html.DoctypeToken:
			r.out.Write(raw)
		}
	}
}

// rewriting is the state of Rewrite.
type rewriting struct {
	Rewriter

	out             strings.Builder
	style, template bool   // within a style sheet, or a template
	element         string // that has Markdown
	open            int    // elements of its name open in it, with itself
}

func (r *rewriting) text(raw string) {
	switch {
	case r.style && r.Sheet != nil:
		raw = r.Sheet(raw)
	case (r.template || r.open > 0) && !r.style && r.Markdown != nil:
		raw = r.Markdown(raw)
	}
	r.out.WriteString(raw)
}

func (r *rewriting) start(raw string, t html.Token, opens bool) {
	r.style = t.Data == "style" && opens
	r.template = t.Data == "script" && opens && slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "type" && isTemplateType(a.Val) })
	switch {
	case r.open > 0 && t.Data == r.element && opens:
		r.open++
	case r.open <= 0 && opens && slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == "data-markdown" }):
		r.element, r.open = t.Data, 1
	}
	changed := false
	if r.Attribute != nil {
		for i, a := range t.Attr {
			if v, ok := r.Attribute(t.Data, a); ok {
				t.Attr[i].Val, changed = v, true
			}
		}
	}
	if changed {
		raw = t.String()
	}
	r.out.WriteString(raw)
}
