package markdown

import (
	"bytes"
	"context"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"catena/storage/fault"
)

// Limits of one conversion. Each bounds something for which the library takes time, or memory, that grows with a
// square, or which it handles recursively.
const (
	maxDelimiters  = 10_000    // characters of one block that may begin or end emphasis, a link, code or HTML
	maxDepth       = 200       // of lists and quotations within each other; a level of lists counts twice
	maxDefinitions = 10_000    // lines of one paragraph that may define a link
	maxCells       = 1_000_000 // of one table, with those that short rows lack
	maxEscapes     = 10_000    // escaped bars in one paragraph that also has code
)

// guard is the account of one conversion.
type guard struct {
	ctx    context.Context //nolint:containedctx // of the one conversion
	source []byte

	block      ast.Node // whose delimiters are counted
	delimiters int
}

func (g *guard) check() {
	if err := g.ctx.Err(); err != nil {
		panic(stop{err})
	}
}

func (g *guard) limit(at, limit int, what string) {
	line := lineOf(g.source, at)
	panic(stop{fault.Limit.Errorf("markdown: line %d: more than %d %s", line, limit, what).WithCode(fault.CodeInvalidMarkdown).At(line, 1)})
}

// inlines sees each delimiter before the library does, and leaves it to the library.
type inlines struct{}

func (inlines) Trigger() []byte { return []byte("*_~[]!`<") }

func (inlines) Parse(parent ast.Node, _ text.Reader, pc parser.Context) ast.Node {
	g := guardOf(pc)
	g.check()
	if g.block != parent {
		g.block, g.delimiters = parent, 0
	}
	if g.delimiters++; g.delimiters > maxDelimiters {
		g.limit(parent.Lines().At(0).Start, maxDelimiters, "emphasis, link, code or HTML delimiters in one block")
	}
	return nil
}

// blocks sees each line that may open a block within another one, and leaves it to the library.
type blocks struct{}

func (blocks) Trigger() []byte { return []byte(">-+*0123456789:") }

func (blocks) Open(_ ast.Node, r text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) > maxDepth {
		_, at := r.Position()
		guardOf(pc).limit(at.Start, maxDepth, "nested lists and quotations")
	}
	return nil, parser.NoChildren
}

func (blocks) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (blocks) Close(ast.Node, text.Reader, parser.Context)                 {}
func (blocks) CanInterruptParagraph() bool                                 { return true }
func (blocks) CanAcceptIndentedLine() bool                                 { return true }

// paragraphs sees each paragraph before the library looks for definitions of links and for tables in it.
type paragraphs struct{}

func (paragraphs) Transform(p *ast.Paragraph, _ text.Reader, pc parser.Context) {
	g := guardOf(pc)
	lines := p.Lines()
	at := lines.At(0).Start
	definitions, escapes, code := 0, 0, false
	for i := range lines.Len() {
		g.check()
		segment := lines.At(i)
		line := bytes.TrimSpace(segment.Value(g.source))
		if bytes.HasPrefix(line, []byte("[")) {
			definitions++
		}
		code = code || bytes.IndexByte(line, '`') >= 0
		escapes += bytes.Count(line, []byte(`\|`))
		if i > 0 && len(bytes.Trim(line, "|-: \t")) == 0 && (bytes.Count(line, []byte("|"))+1)*lines.Len() > maxCells {
			g.limit(segment.Start, maxCells, "cells in a table")
		}
	}
	if definitions > maxDefinitions {
		g.limit(at, maxDefinitions, "link definitions in one paragraph")
	}
	if code && escapes > maxEscapes {
		g.limit(at, maxEscapes, "escaped bars in one paragraph with code")
	}
}
