// Package patch changes single values in YAML or JSON text and leaves every other byte as it is: comments, blank
// lines, the order of keys, and quoting. Values are named by JSON Pointers (RFC 6901), and the edits are those of
// JSON Patch with the ones that editors of lists need besides.
//
// The parser of YAML says where values begin, but not where they end, and encoding its tree again would write the whole
// text again. So an edit finds the bytes of the value in the text and replaces only those. Because YAML can be written in
// ways that this cannot follow, the new text is read again and compared with what the edit means: an edit either does
// exactly that, or is refused.
package patch

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"catena/storage/declare"
	"catena/storage/fault"
)

// The actions.
const (
	Set       = "set"       // gives the value at Path, which need not exist
	Remove    = "remove"    // takes out what is at Path
	Insert    = "insert"    // puts the value before the item at Path
	Move      = "move"      // puts the item at Path before the one at To, both as the text is now
	Duplicate = "duplicate" // repeats the item at Path behind itself, or the member at Path as To
	Rename    = "rename"    // gives the member at Path the last name of To
)

// Actions are all of them.
var Actions = []string{Set, Remove, Insert, Move, Duplicate, Rename}

// Edit is one change.
type Edit struct {
	Action, Path, To string
	Value            any      // a plain value, or a *yaml.Node
	Order            []string // keys in the order in which members are written; a new one goes behind those before it
}

// maxDepth bounds the values within each other; a text is one of the server's, whose bounds are tighter.
const maxDepth = 64

// Apply returns a text with one change.
func Apply(src string, e Edit) (string, error) {
	t, err := read(src)
	if err != nil {
		return "", err
	}
	want, err := read(src)
	if err != nil {
		return "", err
	}
	if e, err = t.settle(e); err != nil {
		return "", err
	}
	if err := want.mean(e); err != nil {
		return "", err
	}
	out, err := t.edit(e)
	if err != nil {
		return "", err
	}
	got, err := read(out)
	if err != nil || !same(got.root, want.root) {
		return "", fault.Invalid.Errorf("path %q: the text there is written in a way that cannot be changed in place; change the text itself", e.Path).In("path")
	}
	return out, nil
}

// text is a text that was read.
type text struct {
	src    string
	starts []int // of lines, in bytes
	root   *yaml.Node
	json   bool // all of it is JSON
}

func read(src string) (*text, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src), &doc); err != nil {
		line, why := declare.Explain(err)
		return nil, fault.Invalid.Errorf("source: %s", why).At(line, 1).In("source")
	}
	if len(doc.Content) == 0 {
		return nil, fault.Invalid.Errorf("source: the text is empty").In("source")
	}
	t := &text{src: src, root: doc.Content[0], starts: []int{0}}
	for i := range len(src) {
		if src[i] == '\n' {
			t.starts = append(t.starts, i+1)
		}
	}
	t.json = flow(t.root) && len(t.root.Content) > 0 && t.root.Content[0].Style == yaml.DoubleQuotedStyle
	return t, nil
}

// offset is where a node begins, in bytes. The parser counts columns in characters.
func (t *text) offset(n *yaml.Node) int {
	at := t.starts[min(n.Line, len(t.starts))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(t.src[at:])
		at += size
	}
	return at
}

// line returns a line, counted from 0, with its end.
func (t *text) line(i int) string {
	if i+1 < len(t.starts) {
		return t.src[t.starts[i]:t.starts[i+1]]
	}
	return t.src[t.starts[i]:]
}

// lineStart is where a line begins; behind the last one, the end of the text.
func (t *text) lineStart(i int) int {
	if i < len(t.starts) {
		return t.starts[i]
	}
	return len(t.src)
}

// splice replaces bytes.
func (t *text) splice(from, to int, with string) string { return t.src[:from] + with + t.src[to:] }

func flow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// place is a value and where it is: the containers from the root down, each with the index of the value in its Content.
type place struct {
	in []frame
}

type frame struct {
	n *yaml.Node
	i int
}

// last is the innermost container.
func (p place) last() frame { return p.in[len(p.in)-1] }

// value is the node at the place.
func (p place) value() *yaml.Node { f := p.last(); return f.n.Content[f.i] }

// up is the place of the innermost container; ok is false for the root.
func (p place) up() (place, bool) { return place{p.in[:len(p.in)-1]}, len(p.in) > 1 }

// Split returns the parts of a JSON Pointer.
func Split(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	parts := strings.Split(path, "/")
	if parts[0] != "" || len(parts) > maxDepth {
		return nil, fault.Invalid.Errorf("path %.100q: must be a JSON Pointer such as /steps/0, with at most %d parts", path, maxDepth-1).In("path")
	}
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}
	return parts[1:], nil
}

// Join is the JSON Pointer of something below another.
func Join(path string, parts ...string) string {
	for _, p := range parts {
		path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
	}
	return path
}

// find returns the place that a pointer names, and the parts of the pointer behind what exists.
func (t *text) find(path string) (place, []string, error) {
	parts, err := Split(path)
	if err != nil {
		return place{}, nil, err
	}
	p, n := place{}, t.root
	for i, part := range parts {
		at := index(n, part)
		if at < 0 {
			return p, parts[i:], nil
		}
		p.in = append(p.in, frame{n, at})
		n = n.Content[at]
	}
	return p, nil, nil
}

// index is where a member of a map or an item of a list is in Content, -1 if there is none.
func index(n *yaml.Node, part string) int {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == part {
				return i + 1
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < len(n.Content) && strconv.Itoa(i) == part {
			return i
		}
	}
	return -1
}

// existing is the place of something that must exist.
func (t *text) existing(path string) (place, error) {
	p, rest, err := t.find(path)
	if err == nil && (len(rest) > 0 || len(p.in) == 0) {
		err = fault.Invalid.Errorf("path %.100q: does not exist in the text", path).In("path")
	}
	return p, err
}

// end returns the offset behind a value that is written on one line or in brackets; ok is false if it cannot be determined.
func (t *text) end(n *yaml.Node) (end int, ok bool) {
	at := t.offset(n)
	if n.Kind == yaml.ScalarNode {
		return t.scalarEnd(n, at)
	}
	if !flow(n) || at >= len(t.src) || t.src[at] != '{' && t.src[at] != '[' {
		return 0, false
	}
	skip := ", \t\r\n"
	end = at + 1
	if k := len(n.Content); k > 0 {
		if end, ok = t.end(n.Content[k-1]); !ok {
			return 0, false
		}
		if n.Content[k-1].Value == "" {
			skip += ":" // of a member without a value
		}
	}
	for end < len(t.src) {
		switch c := t.src[end]; {
		case c == '}' || c == ']':
			return end + 1, true
		case c == '#':
			if eol := strings.IndexByte(t.src[end:], '\n'); eol >= 0 {
				end += eol
				continue
			}
			return 0, false
		case strings.IndexByte(skip, c) >= 0:
			end++
		default:
			return 0, false
		}
	}
	return 0, false
}

func (t *text) scalarEnd(n *yaml.Node, at int) (int, bool) {
	switch n.Style {
	case yaml.DoubleQuotedStyle:
		for i := at + 1; i < len(t.src); i++ {
			switch t.src[i] {
			case '\\':
				i++
			case '"':
				return i + 1, true
			}
		}
	case yaml.SingleQuotedStyle:
		for i := at + 1; i < len(t.src); i++ {
			if t.src[i] != '\'' {
				continue
			}
			if i+1 < len(t.src) && t.src[i+1] == '\'' {
				i++
				continue
			}
			return i + 1, true
		}
	case 0: // what a plain scalar of one line means is what is written
		if at <= len(t.src) && strings.HasPrefix(t.src[at:], n.Value) {
			return at + len(n.Value), true
		}
	}
	return 0, false
}

// top is the first line, counted from 0, of the member or item at a place of a block, with the comments that stand
// directly above it.
func (t *text) top(p place) int {
	line, column := t.first(p), t.column(p)
	for line > 0 && comment(t.line(line-1)) == column {
		line--
	}
	return line
}

// first is the line on which the member or item begins.
func (t *text) first(p place) int {
	f := p.last()
	if f.n.Kind == yaml.MappingNode {
		return f.n.Content[f.i-1].Line - 1
	}
	line := f.n.Content[f.i].Line - 1
	for line > 0 { // the dash may be on a line of its own
		if text := t.line(line); len(text) >= f.n.Column && text[f.n.Column-1] == '-' {
			break
		}
		line--
	}
	return line
}

// column is by how much the member or item is indented.
func (t *text) column(p place) int {
	f := p.last()
	if f.n.Kind == yaml.MappingNode {
		return f.n.Content[0].Column - 1
	}
	return f.n.Column - 1
}

// bottom is the line behind the member or item at a place of a block. Comments that are indented as much as it is, or less,
// belong to what follows.
func (t *text) bottom(p place) int {
	column, line := t.column(p), len(t.starts)
	for q, ok := p, true; ok; q, ok = q.up() {
		f := q.last()
		step := 1
		if f.n.Kind == yaml.MappingNode {
			step = 2
		}
		if f.i+step < len(f.n.Content) {
			line = t.first(place{append(slices.Clone(q.in[:len(q.in)-1]), frame{f.n, f.i + step})})
			break
		}
	}
	for line > t.first(p)+1 {
		above := t.line(line - 1)
		if c := comment(above); strings.TrimSpace(above) == "" || c >= 0 && c <= column || strings.HasPrefix(above, "...") {
			line--
			continue
		}
		break
	}
	return line
}

// comment is by how much a line is indented that is only a comment, -1 for others.
func comment(line string) int {
	rest := strings.TrimLeft(line, " ")
	if strings.HasPrefix(rest, "#") {
		return len(line) - len(rest)
	}
	return -1
}
