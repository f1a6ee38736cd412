package markdown

import (
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"catena/storage/lazy"
)

// Steps is an extension for presentations, whose code names the lines that are pointed at one after the other:
// ```js [1|2-3], or with the number of the first line, [5: 1|2-3], as reveal.js has it; and ```js {1|2-3} of Slidev.
var Steps goldmark.Extender = steps{}

type steps struct{}

func (steps) Extend(m goldmark.Markdown) {
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(steps{}, 100))) // before the usual one
}

func (steps) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, stepped)
}

var pointed = lazy.Regexp(`^([^\s\[{]*)\s*(?:\[\s*(?:(\d*):)?\s*([\s\d,|-]*)\]|\{\s*([\s\d,|-]+)\}.*)$`)

func stepped(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n, ok := node.(*ast.FencedCodeBlock)
	if !ok || !entering {
		return ast.WalkContinue, nil
	}
	info := ""
	if n.Info != nil {
		info = string(util.UnescapePunctuations(n.Info.Segment.Value(source)))
	}
	attribute := func(name, value string) string {
		return " " + name + `="` + string(util.EscapeHTML([]byte(value))) + `"`
	}
	language, about := "", ""
	if words := strings.Fields(info); len(words) > 0 {
		language = words[0]
	}
	if m := pointed().FindStringSubmatch(strings.TrimSpace(info)); m != nil {
		language, about = m[1], attribute("data-line-numbers", strings.TrimSpace(m[3]+m[4]))
		if m[2] != "" {
			about += attribute("data-ln-start-from", m[2])
		}
	}
	if language != "" {
		about = attribute("class", "language-"+language) + about
	}
	_, _ = w.WriteString("<pre><code" + about + ">") // a buffer: its errors come at the end
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.Write(util.EscapeHTML(line.Value(source)))
	}
	_, err := w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, err
}
