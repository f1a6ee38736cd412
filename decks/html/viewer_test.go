package html

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/dop251/goja"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// viewer reads Markdown as the framework does in a browser: with its own program, which needs no document for that.
type viewer struct {
	vm             *goja.Runtime
	slidify, parse goja.Callable
}

// How the plug-in takes the margin from the text of a section, and how it is called.
const viewerScript = `
const plugin = RevealMarkdown();
plugin.init({ getConfig: () => ({}), getRevealElement: () => ({ querySelectorAll: () => [] }) });
const margin = (text) => {
  text = text.replace(/__SCRIPT_END__/g, '</script>');
  const spaces = text.match(/^\n?(\s*)/)[1].length, tabs = text.match(/^\n?(\t*)/)[1].length;
  if (tabs > 0) return text.replace(new RegExp('\\n?\\t{' + tabs + '}(.*)', 'g'), (m, p) => '\n' + p);
  if (spaces > 1) return text.replace(new RegExp('\\n? {' + spaces + '}(.*)', 'g'), (m, p) => '\n' + p);
  return text;
};
const slidify = (text, separator, vertical, notes) => plugin.slidify(margin(text), { separator, verticalSeparator: vertical, notesSeparator: notes });
const parse = (text) => plugin.marked.parse(margin(text));
`

var viewerProgram = sync.OnceValues(func() (*goja.Program, error) {
	plugin, err := os.ReadFile("../theme/dist/markdown.js")
	if err != nil {
		return nil, err
	}
	return goja.Compile("markdown.js", string(plugin)+viewerScript, false)
})

func newViewer(t testing.TB) *viewer {
	t.Helper()
	program, err := viewerProgram()
	if err != nil {
		t.Fatal(err)
	}
	v := &viewer{vm: goja.New()}
	for name, value := range map[string]any{"window": v.vm.GlobalObject(), "self": v.vm.GlobalObject(), "document": map[string]any{}, "console": map[string]any{"warn": func(any) {}}} {
		if err := v.vm.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := v.vm.RunProgram(program); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*goja.Callable{"slidify": &v.slidify, "parse": &v.parse} {
		value, err := v.vm.RunString(name)
		call, ok := goja.AssertFunction(value)
		if err != nil || !ok {
			t.Fatal(name, err)
		}
		*f = call
	}
	return v
}

// show returns what a browser makes of the Markdown in clean HTML.
func (v *viewer) show(t testing.TB, src string) (shown []string) {
	t.Helper()
	for _, n := range nodesOf(src) {
		walkNodes(n, func(n *html.Node) {
			switch {
			case n.Type != html.ElementNode || !hasNode(n, "data-markdown"):
			case n.Data == "section":
				args := []goja.Value{v.vm.ToValue(markdownOf(n))}
				for _, name := range []string{"data-separator", "data-separator-vertical", "data-separator-notes"} {
					args = append(args, v.vm.ToValue(attrOf(n, name)))
				}
				out, err := v.slidify(goja.Undefined(), args...)
				if err != nil {
					return // a pattern that is not one: nothing is shown
				}
				for _, slide := range nodesOf(out.String()) {
					shown = append(shown, out.String())
					walkNodes(slide, func(n *html.Node) {
						if n.Data == "section" && hasNode(n, "data-markdown") {
							shown = append(shown, v.markdown(t, markdownOf(n)))
						}
					})
				}
			default:
				shown = append(shown, v.markdown(t, markdownOf(n)))
			}
		})
	}
	return shown
}

func (v *viewer) markdown(t testing.TB, text string) string {
	t.Helper()
	out, err := v.parse(goja.Undefined(), v.vm.ToValue(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return out.String()
}

// markdownOf is the text that the framework takes from an element.
func markdownOf(n *html.Node) string {
	from := n
	find := func(wanted func(*html.Node) bool) bool {
		found := false
		walkNodes(n, func(c *html.Node) {
			if !found && c != n && c.Type == html.ElementNode && wanted(c) {
				from, found = c, true
			}
		})
		return found
	}
	if !find(func(c *html.Node) bool { return hasNode(c, "data-template") }) {
		find(func(c *html.Node) bool { return c.Data == "script" })
	}
	var text strings.Builder
	walkNodes(from, func(c *html.Node) {
		if c.Type == html.TextNode {
			text.WriteString(c.Data)
		}
	})
	return text.String()
}

func nodesOf(src string) []*html.Node {
	nodes, err := html.ParseFragment(strings.NewReader(src), &html.Node{Type: html.ElementNode, Data: "div", DataAtom: atom.Div})
	if err != nil {
		return nil
	}
	return nodes
}

func walkNodes(n *html.Node, visit func(*html.Node)) {
	visit(n)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		walkNodes(c, visit)
	}
}

func attrOf(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasNode(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// alive returns what could act in HTML as a browser has it; "" for nothing.
func alive(src string, remarks bool) (found string) {
	check := func(element, name, value string) {
		value = squeezed(value)
		leads := strings.HasPrefix(value, "javascript:") || strings.HasPrefix(value, "vbscript:") || strings.HasPrefix(value, "data:text/html")
		switch {
		case strings.HasPrefix(name, "on"), name == "srcdoc", name == "formaction", name == "action", leads && (element == "!--" || attributes[name]&address != 0):
			found = fmt.Sprintf("%s=%q of <%s>", name, value, element)
		}
	}
	for _, n := range nodesOf(src) {
		walkNodes(n, func(n *html.Node) {
			switch n.Type {
			case html.ElementNode:
				if n.Data == "script" && !isTemplateType(attrOf(n, "type")) || n.Data == "object" || n.Data == "embed" || n.Data == "meta" || n.Data == "base" || n.Data == "form" {
					found = "<" + n.Data + ">"
				}
				for _, a := range n.Attr {
					check(n.Data, strings.ToLower(a.Key), a.Val)
				}
			case html.CommentNode:
				if !remarks {
					return
				}
				for _, m := range remarked().FindAllStringSubmatch(n.Data, -1) {
					check("!--", strings.ToLower(strings.TrimSpace(m[1])), m[2])
				}
			}
		})
	}
	return found
}

// harmless checks that a browser finds nothing that acts in a deck, after the framework has read its Markdown.
func (v *viewer) harmless(t testing.TB, src string) bool {
	t.Helper()
	got, err := Clean(t.Context(), src)
	if err != nil {
		return false
	}
	shows := v.show(t, got.HTML)
	for i, shown := range append(shows, got.HTML) {
		if act := alive(shown, i < len(shows)); act != "" {
			t.Errorf("%q\nis kept as %q\nand shown as %q\nwith %s", src, got.HTML, shown, act)
			return false
		}
	}
	return true
}

const image = "<img src=x onerror=x>"

// hostile are templates whose Markdown looks like code or like text to one reader, and like HTML to another.
var hostile = []string{
	// the margin is taken wherever blanks stand, also within lines
	"\n  a\nx  <div>\n  ```\n  " + image + "\n  ```", "\n\ta\nx\t<div>\n\t```\n\t" + image + "\n\t```", "a\n\n---\n  b\nx  <div>\n```\n" + image + "\n```",
	"a\n\n---\n  b\n\n```\na  ```\n" + image + "\n```", "a\n\n---\n\tb\n\n```\na\t```\n" + image + "\n```",
	// definitions of links go on over lines
	"[a]: /u \"\n```\n\"\n" + image + "\n```", "[a\n```\n]: /u\n" + image + "\n```", "[a]:\n```\n" + image + "\n```", "[a]: /u\n'\n```\n'\n" + image + "\n```",
	// tags are code to one reader
	"`<a title=\"`" + image + "\">", "`<!--`" + image + "-->", "`</p title=\"`" + image + "\">", "<a title=\"\n\n" + image + "\n\n\">", "<a title='\n\n" + image + "\n\n'>x",
	"    <a title=\"\n" + image + "\n\">", "```\n<a title=\"\n```\n" + image + "\n\">", "> <a title=\"\n" + image + "\">", "<!--\n\n-->" + image, "- <!--\n" + image + "\n-->",
	// tags go on over lines of quotations and items
	"> <img\n> src=x\n> onerror=x>", "> <img src=x\n> onerror=x >", "- <img\n  src=x\n  onerror=x>", "> a <b\n> title=\"\" onclick=x>", "> <img src=x alt='\n> ' onerror=x>",
	// what a fence says about its code becomes an attribute
	"```js\" onmouseover=\"x\na\n```", "- ```js\" onmouseover=\"x\n  a\n  ```", "> ~~~ \" onmouseover=x a=\"\n> a", "~~~\"onmouseover=x a=\"\na\n~~~", "```a <b title=\"\"> \" onclick=\"x\na\n```",
	"``` [1-2] \" onclick=\"x\na\n```", "<b title='```'>\n```js\" onclick=\"x\n```", "`<!--`\n```js\" onmouseover=\"x\na\n``` -->", "<b title='\n```js\" onclick=\"x\n'>",
	"x  ```js\" onclick=\"x\na\n```", "```js &quot; onclick=\"x\n```", "```js'\" onclick='x\n```", "```\\\" onclick=\\\"x\n```",
	// remarks set attributes
	"a <!-- .element: onclick=\"x\" -->", "a\n<!-- .slide: onclick=\"x\" -->", "[a](b) <!-- .element: href=\"javascript:x\" -->", "<iframe></iframe> <!-- .element: srcdoc=\"x\" -->", "a <!-- .element: class=\"a\"\nonclick=\"x\" -->",
	"a <!-- .element: a=\"b\"onclick=\"x\" -->", "a <!-- .element: &#111;nclick=\"x\" OnClick=\"x\" -->",
	// addresses that run scripts
	"[a](javascript\\:x)", "[a](java\\script:x)", "[a](javascript&#92;:x)", "![a](javascript\\:x)", "<javascript:x>", "[a]: javascript\\:x\n\n[a]", "[a](javascript&colon;x)", "[a](&#106;avascript&colon;x)", "[a](<javascript:x>)",
	"[a](\\javascript:x)", "[a](jav&#x61;script\\:x)", "[a](javascript&amp;colon;x)", "[a](javascript&#38;colon;x)", "[a](vbscript\\:x)", "[a](data:text/html,x)",
	// lines that end in other ways, and rules of the framework
	"```\nsnote:\n" + image + "\n```", "```\n\n```\u2028" + image, "```\u0085\n" + image + "\n```", "<div\n\n```\n" + image + "\n```", "<x-y>\n```\n" + image + "\n```\n", "a\n<x-y>\n```\n" + image + "\n```", "</div\n\n```\n" + image + "\n```",
	"<?x\n```\n" + image + "\n```", "<!X\n```\n" + image + "\n```", "<![CDATA[\n```\n" + image + "\n```", "a\n\\\n```\n" + image + "\n```", "|a|\n|-|\n```\n" + image + "\n```", "- \n```\n" + image + "\n```", "1. a\n```\n" + image + "\n```",
	"a\n```\n" + image + "\n```", "> a\n```\n" + image + "\n```", "- a\n\n  b\n```\n" + image + "\n```", "***\n```\n" + image + "\n```", "a\n===\n```\n" + image + "\n```", "- - a\n```\n" + image + "\n```", "~~~\n" + image + "\n~~~~~", "````\n```\n" + image + "\n````",
	"```\n" + image + "\n```~", "```\n```~\n" + image + "\n```", "__SCRIPT_END__" + image, "```\n__SCRIPT_END__\n" + image + "\n```", "&lt;img src=x onerror=x&gt;", "<b>`</b>" + image + "`",
}

// TestViewer shows hostile Markdown as the framework does, from a template, a text area and the text of a section or another element.
func TestViewer(t *testing.T) {
	v := newViewer(t)
	if act := alive(v.markdown(t, "a "+image), true); act == "" {
		t.Fatal("the test does not find an attack")
	}
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;")
	for _, text := range hostile {
		for _, tail := range []string{"", "\n"} {
			for _, separators := range []string{"", ` data-separator="^---$" data-separator-notes="^Say:"`} {
				v.harmless(t, `<section data-markdown`+separators+`><script type="text/template">`+text+tail+`</script></section>`)
			}
			v.harmless(t, `<section data-markdown><textarea data-template>`+escape.Replace(text)+tail+`</textarea></section>`)
			for _, name := range []string{"section", "div"} {
				v.harmless(t, `<section><`+name+` data-markdown>`+escape.Replace(text)+tail+`</`+name+`></section>`)
				v.harmless(t, `<section><`+name+` data-markdown>`+text+tail+`</`+name+`></section>`)
			}
		}
	}
	for _, src := range []string{
		`<section data-markdown>[a](java<b>script:</b>x)</section>`, "<section data-markdown>``<b>`js</b>\" onclick=\"x\na\n```</section>", `<section data-markdown>&<b>lt;img onerror=x></b></section>`,
		"<section data-markdown data-separator=\"x\\n\\n\\n\\n\\n\\n~~~\"><script type=\"text/template\">a\nx\n\n\n\n\n\n~~~\n" + image + "\n~~~</script></section>",
		"<section data-markdown data-attributes=\"\\.x(.+)\"><script type=\"text/template\">a <!-- .xy-onclick=\"x\" --></script></section>",
		`<section data-markdown>[a](javascript&amp;colon;x)</section>`, `<section data-markdown>[a](javascript&colon;x)</section>`,
	} {
		v.harmless(t, src)
	}
}

// pieces are what Markdown is put together from at random.
var pieces = []string{
	"```", "~~~", "````", "`", "``", "\n", "\n", "\n", "\n\n", " ", "  ", "    ", "\t", "> ", "- ", "1. ", "* ", "# ", "---", "\n---\n", "note:", "\nNote:", "===", "|", "|-|", "[a]: ", "[a", "](", ")", "]", "[", "\\", "\"", "'", "=",
	"<div>", "</div>", "<b title=\"", "<b title='", "\">", "'>", "<!--", "-->", "<pre>", "</pre>", "<style>", "</style>", "<x-y>", "<b", ">", "<", "</b", "<?", "?>", "<![CDATA[", "]]>", "js", "a", "x", "&lt;", "&quot;", "&#58;", "&colon;", "javascript:", "javascript\\:",
	"[1|2]", " onclick=x ", "\" onclick=\"x", "<!-- .element: onclick=\"x\" -->", ".slide: onclick=\"x\"", image, image, image, "\r\n", "\r", "\u2028", "\x00", "__SCRIPT_END__", "*", "_", "![", "<a href=\"", "http://x", "<br>", "~~",
}
