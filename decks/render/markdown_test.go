package render

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestMarkdown reads the Markdown of sections as the framework does: attributes in comments, by the patterns of the
// section too, and code whose lines are pointed at one after the other.
func TestMarkdown(t *testing.T) {
	for src, want := range map[string]string{
		"<section data-markdown data-attributes=\"^ !(.*)$\" data-element-attributes=\"^ @(.*)$\"><script type=\"text/template\"># A\n<!-- @class=\"x\" -->\n<!-- !data-state=\"y\" -->\n<!-- .slide: data-id=\"z\" --></script></section>": `data-state="y"><h1 class="x">`,
		"<section data-markdown><script type=\"text/template\"># A <!-- .element: class=\"fragment\" -->\n```go [3: 1|2]\na\n```\n</script></section>":                                                                                      `<pre><code class="language-go" data-line-numbers="1|2" data-ln-start-from="3">`,
	} {
		d := deck
		d.HTML = src
		root, _, err := parse(context.Background(), &d)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := html.Render(&b, root); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", src, got, want)
		}
	}
}
