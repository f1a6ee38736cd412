package library

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/storage/declare"
	"catena/storage/fault"
)

// Bounds of a text in YAML or JSON.
const (
	MaxSource = 256 << 10 // bytes
	maxDepth  = 32        // of values
)

// Parser reads a text in YAML or JSON and collects all that is wrong with it, with its place.
type Parser struct {
	File     string
	Problems []Problem
	Step     int    // where the parser is, if there are steps
	Param    string // and parameters
	Most     int    // bytes that a text may have; 0: MaxSource
}

// Root returns the one document of a text, nil if it cannot be read; what names what the text declares.
func (p *Parser) Root(src []byte, what string) *yaml.Node {
	if most := cmp.Or(p.Most, MaxSource); len(src) > most {
		p.Add(1, 1, "the text is longer than %d bytes", most)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.Add(1, 1, "the text is empty")
		} else {
			line, text := declare.Explain(err)
			p.Add(line, 1, "%s", text)
		}
		return nil
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		p.Add(more.Line, 1, "only one %s per file is allowed: a second document follows", what)
	}
	return doc.Content[0]
}

// Add notes a problem at a position counted from 1.
func (p *Parser) Add(line, column int, format string, args ...any) {
	p.Problems = append(p.Problems, Problem{
		File: p.File, Line: line, Column: column, Step: p.Step, Param: p.Param, Message: fmt.Sprintf(format, args...),
	})
}

// At notes a problem with a node.
func (p *Parser) At(n *yaml.Node, format string, args ...any) {
	p.Add(n.Line, n.Column, format, args...)
}

// Fields walks a map: each key must be in the table, and comes once.
func (p *Parser) Fields(n *yaml.Node, what string, table map[string]func(*yaml.Node)) map[string]bool {
	seen := map[string]bool{}
	if n.Kind != yaml.MappingNode {
		p.At(n, "%s is not a map", what)
		return seen
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		f, ok := table[k.Value]
		switch {
		case !ok:
			p.At(k, "%s has no member %q%s", what, k.Value, fault.Perhaps(k.Value, maps.Keys(table)))
		case seen[k.Value]:
			p.At(k, "%s has %q more than once", what, k.Value)
		default:
			f(v)
		}
		seen[k.Value] = true
	}
	return seen
}

// List walks a list.
func (p *Parser) List(n *yaml.Node, what string, each func(int, *yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		p.At(n, "%s is not a list", what)
		return
	}
	for i, v := range n.Content {
		each(i, v)
	}
}

// Text reads a single value into a text.
func (p *Parser) Text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			p.At(n, "must be a string")
			return
		}
		*into = n.Value
	}
}

// Texts reads a list of texts.
func (p *Parser) Texts(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		p.List(n, "this", func(_ int, v *yaml.Node) {
			var s string
			p.Text(&s)(v)
			*into = append(*into, s)
		})
	}
}

// Positions notes where the members of a map are and what they are given, by path: the keys of maps and the numbers of
// items with / in between, behind the path of the map.
func Positions(n *yaml.Node, path string, into map[string]engine.Position) {
	join := func(name string) string {
		if path == "" {
			return name
		}
		return path + "/" + name
	}
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			value := positionOf(v)
			into[join(k.Value)] = engine.Position{Line: k.Line, Column: k.Column, Value: &value}
			Positions(v, join(k.Value), into)
		}
	case yaml.SequenceNode:
		for i, v := range n.Content {
			value := positionOf(v)
			into[join(strconv.Itoa(i))] = engine.Position{Line: v.Line, Column: v.Column, Value: &value}
			Positions(v, join(strconv.Itoa(i)), into)
		}
	}
}

// positionOf is where a value is, and where its text begins if that is on one line as it is understood.
func positionOf(n *yaml.Node) engine.Position {
	p := engine.Position{Line: n.Line, Column: n.Column, Text: n.Value}
	if n.Kind != yaml.ScalarNode || strings.ContainsAny(n.Value, "\\\n") {
		return p
	}
	switch n.Style {
	case 0, yaml.TaggedStyle:
		p.Start = n.Column
	case yaml.SingleQuotedStyle, yaml.DoubleQuotedStyle:
		if n.Style == yaml.SingleQuotedStyle && !strings.Contains(n.Value, "'") || n.Style == yaml.DoubleQuotedStyle && !strings.Contains(n.Value, `"`) {
			p.Start = n.Column + 1
		}
	}
	return p
}

// PlanProblems places the errors of a plan: at a line and a column if they say so, else at the beginning.
func PlanProblems(file string, line, column int, err error) []Problem {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var out []Problem
		for _, e := range joined.Unwrap() {
			out = append(out, PlanProblems(file, line, column, e)...)
		}
		return out
	}
	p := Problem{File: file, Line: line, Column: column, Message: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		p.Param = f.Field
		if f.Line > 0 {
			p.Line, p.Column = f.Line, max(f.Column, 1)
		}
	}
	return []Problem{p}
}

// Boolean reads true or false.
func (p *Parser) Boolean(n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Decode(&b) != nil {
		p.At(n, "must be true or false")
	}
	return b
}

// Value turns a node into plain values: text, int64, float64, bool, nil, time, lists and maps.
func (p *Parser) Value(n *yaml.Node) any { return p.nested(n, 0) }

func (p *Parser) nested(n *yaml.Node, depth int) any {
	if depth > maxDepth {
		p.At(n, "nested deeper than %d", maxDepth)
		return nil
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return p.scalar(n)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, v := range n.Content {
			out[i] = p.nested(v, depth+1)
		}
		return out
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			if _, twice := out[key]; twice {
				p.At(n.Content[i], "%q is given more than once", key)
			}
			out[key] = p.nested(n.Content[i+1], depth+1)
		}
		return out
	default:
		p.At(n, "aliases are not allowed")
		return nil
	}
}

func (p *Parser) scalar(n *yaml.Node) any {
	var v any
	if err := n.Decode(&v); err != nil {
		p.At(n, "%v", err)
		return nil
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		p.At(n, "%s is too large", n.Value)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			p.At(n, "%s is not a finite number", n.Value)
		}
		return v
	case time.Time:
		return v.UTC()
	}
	return v
}
