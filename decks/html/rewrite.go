package html

import (
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

// Rewrite copies HTML and changes values of attributes and style sheets; what has no changes
// keeps its bytes.
func Rewrite(src string, sheet func(string) string, change func(element string, a html.Attribute) (string, bool)) string {
	z := html.NewTokenizer(strings.NewReader(src))
	var out strings.Builder
	out.Grow(len(src))
	style := false // within a style sheet
	for {
		kind := z.Next()
		raw := z.Raw()
		if kind == html.TextToken && style {
			out.WriteString(sheet(string(raw)))
			continue
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			out.Write(raw)
			if kind == html.ErrorToken {
				return out.String()
			}
			style = false
			continue
		}
		before := string(raw)
		t := z.Token()
		style = t.Data == "style" && kind == html.StartTagToken
		changed := false
		for i, a := range t.Attr {
			if v, ok := change(t.Data, a); ok {
				t.Attr[i].Val, changed = v, true
			}
		}
		if changed {
			before = t.String()
		}
		out.WriteString(before)
	}
}
