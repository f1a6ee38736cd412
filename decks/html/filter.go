package html

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"catena/storage/fault"
	"catena/storage/work"
)

const (
	// tokenWork is what a token costs, in units of package work.
	tokenWork = 2000
	// maxAttributes bounds those of an element.
	maxAttributes = 1000
)

// filter copies the tokens of HTML that may stay.
type filter struct {
	reader
	ctx               context.Context // of the call
	watch             work.Watch
	out               output
	outline           outline
	base              position // of the source
	from              position // that was asked for last
	depth             int      // sections open
	first             int      // where the outermost open section begins
	foreign           int      // open svg and math elements
	integrated, stuck bool     // HTML may stand in drawings or formulas of the slide; where those end is uncertain
	marked            bool     // the slide has Markdown in an element other than a section
	samples           sample
	marking           marking
	balance           balance
	md                []bool
	reads             []attribute // of the section whose Markdown this is
	fences            []span      // code in the Markdown of a template
	removed           []string
	inner             bool // content of a template: no sections needed, any element that is harmless
}

// position is a line and a column, and where in the source that is.
type position struct{ line, column, at int }

func newFilter(ctx context.Context, src string) *filter {
	f := &filter{ctx: ctx, reader: reader{src: src}, out: output{src: src}, base: position{line: 1, column: 1}}
	f.from = f.base
	f.outline.text.b = make([]byte, 0, min(len(src)/2, maxText))
	return f
}

func (f *filter) run() error {
	for {
		if err := f.watch.Do(f.ctx, tokenWork); err != nil {
			return err
		}
		if f.skipCode() {
			continue
		}
		kind := f.next()
		if kind == html.ErrorToken {
			if f.raw != "" {
				f.remove("unfinished tag", f.at)
			}
			break
		}
		if err := f.filter(kind); err != nil {
			return err
		}
	}
	if f.depth > 0 && !f.inner {
		p := f.position(f.first)
		return fault.Invalid.Errorf("HTML: <section> at line %d, column %d is not closed", p.line, p.column).
			WithCode(fault.CodeInvalidHTML).At(p.line, p.column)
	}
	return nil
}

func (f *filter) filter(kind html.TokenType) error {
	switch kind {
	case html.TextToken:
		return f.text()
	case html.CommentToken:
		f.comment()
	case html.StartTagToken, html.SelfClosingTagToken:
		return f.start()
	case html.EndTagToken:
		return f.end()
	case html.DoctypeToken:
		if f.depth == 0 && !f.inner {
			return f.refuse("a document type", f.at)
		}
		f.remove("document type", f.at)
	}
	return nil
}

// position returns the line and the column of a position. It goes on from the last one asked for.
func (f *filter) position(at int) position {
	if at < f.from.at {
		return positionIn(f.src, f.base, at)
	}
	f.from = positionIn(f.src, f.from, at)
	return f.from
}

func positionIn(src string, p position, at int) position {
	s := src[p.at:at]
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		p.line += strings.Count(s, "\n")
		p.column, s = 1, s[i+1:]
	}
	p.column += utf8.RuneCountInString(s)
	p.at = at
	return p
}

// refuse is the error of what may not stand at the top level.
func (f *filter) refuse(what string, at int) error {
	p := f.position(at)
	return fault.Invalid.Errorf("HTML: only <section> elements may stand at the top level, not %s (line %d, column %d)", what, p.line, p.column).
		WithCode(fault.CodeInvalidHTML).At(p.line, p.column)
}

func (f *filter) remove(what string, at int) {
	if len(f.removed) >= maxRemoved { // only counted
		f.removed = append(f.removed, "")
		return
	}
	p := f.position(at)
	f.removed = append(f.removed, fmt.Sprintf("%s at line %d, column %d", what, p.line, p.column))
}

// output is the source as long as nothing of it was left out or changed, and is written when
// something is.
type output struct {
	src  string
	same int // so much of the source is the output
	b    []byte
	own  bool // b is the output
}

// keep writes a piece of the source, which begins at a position.
func (o *output) keep(raw string, at int) {
	if !o.own && at == o.same {
		o.same += len(raw)
		return
	}
	o.write(raw)
}

// write writes what is not in the source.
func (o *output) write(s string) {
	if !o.own {
		o.own = true
		o.b = append(make([]byte, 0, len(o.src)+len(s)), o.src[:o.same]...)
	}
	o.b = append(o.b, s...)
}

// String returns what was written.
func (o *output) String() string {
	if o.own {
		return string(o.b)
	}
	return o.src[:o.same]
}
