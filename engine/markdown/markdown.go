// Package markdown converts Markdown to HTML in bounded time. The library that it uses takes time that grows with the
// square of some constructs and knows nothing of contexts; this package counts these constructs while the library
// parses, and ends the conversion when there are too many or when the call has ended. Which Markdown is meant, and
// whether HTML in it is kept, is for callers to say.
package markdown

import (
	"bytes"
	"context"
	"io"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"catena/storage/fault"
)

// Converter converts one kind of Markdown.
type Converter struct{ md goldmark.Markdown }

// New returns a converter with the options of goldmark.
func New(options ...goldmark.Option) *Converter {
	md := goldmark.New(options...)
	md.Parser().AddOptions(
		parser.WithBlockParsers(util.Prioritized(blocks{}, 0)),
		parser.WithInlineParsers(util.Prioritized(inlines{}, 0)),
		parser.WithParagraphTransformers(util.Prioritized(paragraphs{}, 0)),
	)
	return &Converter{md}
}

// Convert writes Markdown as HTML. It ends within a second of the call, and refuses text that would take much longer
// than its length suggests.
func (c *Converter) Convert(ctx context.Context, source []byte, w io.Writer) (err error) {
	g := &guard{ctx: ctx, source: source}
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	pc := parser.NewContext()
	pc.Set(guardKey, g)
	root := c.md.Parser().Parse(reader{text.NewReader(source), g}, parser.WithContext(pc))
	if err := c.md.Renderer().Render(writer{w, g}, source, root); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fault.Wrap(err, "markdown")
	}
	return nil
}

// stop is how a guard leaves the parser, which has no other way to end.
type stop struct{ err error }

// guardKey is where the parser's context holds the guard of the conversion.
var guardKey = parser.NewContextKey()

func guardOf(pc parser.Context) *guard { return pc.Get(guardKey).(*guard) }

// reader checks for the end of the call at each line.
type reader struct {
	text.Reader
	guard *guard
}

func (r reader) AdvanceLine() {
	r.guard.check()
	r.Reader.AdvanceLine()
}

// writer checks for the end of the call at each write.
type writer struct {
	io.Writer
	guard *guard
}

func (w writer) Write(p []byte) (int, error) {
	if err := w.guard.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// lineOf is the line of an offset in the source, from 1.
func lineOf(source []byte, at int) int {
	return 1 + bytes.Count(source[:min(max(at, 0), len(source))], []byte{'\n'})
}
