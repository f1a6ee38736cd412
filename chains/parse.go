package chains

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
)

// Bounds of a chain's text.
const (
	maxSource = 256 << 10 // bytes
	maxSteps  = 1000
	maxDepth  = 32 // of the values of parameters
)

// Chain is a chain as written: what it takes and gives, and its steps in order.
type Chain struct {
	Name, Label, Description, Since string
	Aliases                         []string
	Input, Output                   string // type words; "" is any
	Params                          []engine.Param
	Steps                           []engine.Step
	OnError                         *engine.Handler
	File                            string
}

// Parse reads a chain from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Chain, []library.Problem) {
	p := &parser{file: file}
	if len(src) > maxSource {
		p.add(1, 1, "the text is longer than %d bytes", maxSource)
		return nil, p.problems
	}
	dec := yaml.NewDecoder(bytes.NewReader(src))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			p.add(1, 1, "the text is empty")
		} else {
			p.yamlError(err)
		}
		return nil, p.problems
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		p.add(more.Line, 1, "one chain a file: a second document follows")
	}
	c := &Chain{File: file}
	p.chain(c, doc.Content[0])
	if len(p.problems) > 0 {
		return nil, p.problems
	}
	return c, nil
}

// parser collects problems while it walks the nodes.
type parser struct {
	file     string
	problems []library.Problem
	step     int
	param    string
}

func (p *parser) add(line, column int, format string, args ...any) {
	p.problems = append(p.problems, library.Problem{
		File: p.file, Line: line, Column: column, Step: p.step, Param: p.param, Message: fmt.Sprintf(format, args...),
	})
}

func (p *parser) at(n *yaml.Node, format string, args ...any) {
	p.add(n.Line, n.Column, format, args...)
}

// yamlError takes the line out of the library's message.
func (p *parser) yamlError(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, message
			}
		}
	}
	p.add(line, 1, "%s", text)
}

// fields walks a map: each key must be in the table, and comes once.
func (p *parser) fields(n *yaml.Node, what string, table map[string]func(*yaml.Node)) map[string]bool {
	seen := map[string]bool{}
	if n.Kind != yaml.MappingNode {
		p.at(n, "%s is not a map", what)
		return seen
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		f, ok := table[k.Value]
		switch {
		case !ok:
			p.at(k, "%s has no %q", what, k.Value)
		case seen[k.Value]:
			p.at(k, "%s has %q twice", what, k.Value)
		default:
			f(v)
		}
		seen[k.Value] = true
	}
	return seen
}

func (p *parser) chain(c *Chain, n *yaml.Node) {
	seen := p.fields(n, "a chain", map[string]func(*yaml.Node){
		"name":        p.text(&c.Name),
		"label":       p.text(&c.Label),
		"description": p.text(&c.Description),
		"since":       p.text(&c.Since),
		"aliases":     p.texts(&c.Aliases),
		"input":       p.text(&c.Input),
		"output":      p.text(&c.Output),
		"params": func(v *yaml.Node) {
			p.list(v, "params", func(_ int, v *yaml.Node) { c.Params = append(c.Params, p.declared(v)) })
		},
		"steps":   func(v *yaml.Node) { p.steps(c, v) },
		"onError": func(v *yaml.Node) { c.OnError = p.handler(v) },
	})
	switch {
	case c.Name == "" && seen["name"]:
	case c.Name == "":
		p.at(n, "a chain needs a name")
	case strings.ContainsAny(c.Name, "/\\ \t\n@?#%") || len(c.Name) > 100:
		p.at(n, "name %q: only letters, digits and . _ - ( ), at most 100 bytes", c.Name)
	}
	if n.Kind == yaml.MappingNode && !seen["steps"] {
		p.at(n, "a chain needs steps")
	}
	if c.Description == "" {
		c.Description = "Chain of " + filepath.Base(p.file) + "."
	}
}

func (p *parser) steps(c *Chain, n *yaml.Node) {
	p.list(n, "steps", func(i int, v *yaml.Node) {
		if i >= maxSteps {
			if i == maxSteps {
				p.at(v, "more than %d steps", maxSteps)
			}
			return
		}
		p.step = i + 1
		s := engine.Step{File: p.file, Line: v.Line, Column: v.Column, ParamLines: map[string]int{}}
		p.fields(v, "a step", map[string]func(*yaml.Node){
			"op":      p.text(&s.Op),
			"params":  func(v *yaml.Node) { s.Params = p.params(v, s.ParamLines) },
			"as":      p.text(&s.As),
			"when":    p.text(&s.When),
			"onError": func(v *yaml.Node) { s.OnError = p.handler(v) },
		})
		if s.Op == "" {
			p.at(v, "a step needs an op")
		}
		c.Steps = append(c.Steps, s)
		p.step = 0
	})
}

func (p *parser) params(n *yaml.Node, lines map[string]int) map[string]any {
	m := map[string]any{}
	if n.Kind != yaml.MappingNode {
		p.at(n, "params is not a map")
		return m
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		p.param = k.Value
		if _, twice := m[k.Value]; twice {
			p.at(k, "parameter %q is given twice", k.Value)
		}
		m[k.Value], lines[k.Value] = p.value(v, 0), v.Line
		p.param = ""
	}
	return m
}

// declared is a parameter the chain itself takes.
func (p *parser) declared(n *yaml.Node) engine.Param {
	out := engine.Param{Type: "string"}
	p.fields(n, "a parameter", map[string]func(*yaml.Node){
		"name":        p.text(&out.Name),
		"type":        p.text(&out.Type),
		"description": p.text(&out.Doc),
		"required":    func(v *yaml.Node) { out.Required = p.boolean(v) },
		"default":     func(v *yaml.Node) { out.Default = p.value(v, 0) },
		"values":      p.texts(&out.Values),
	})
	if out.Name == "" {
		p.at(n, "a parameter needs a name")
	}
	return out
}

func (p *parser) handler(n *yaml.Node) *engine.Handler {
	h := &engine.Handler{}
	seen := p.fields(n, "onError", map[string]func(*yaml.Node){
		"chain":    p.text(&h.Chain),
		"continue": func(v *yaml.Node) { h.Continue = p.boolean(v) },
		"result":   func(v *yaml.Node) { h.Result = p.value(v, 0) },
	})
	if len(seen) != 1 {
		p.at(n, "onError is one of chain, continue or result")
	}
	return h
}

func (p *parser) list(n *yaml.Node, what string, each func(int, *yaml.Node)) {
	if n.Kind != yaml.SequenceNode {
		p.at(n, "%s is not a list", what)
		return
	}
	for i, v := range n.Content {
		each(i, v)
	}
}

func (p *parser) text(into *string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode {
			p.at(n, "not a text")
			return
		}
		*into = n.Value
	}
}

func (p *parser) texts(into *[]string) func(*yaml.Node) {
	return func(n *yaml.Node) {
		p.list(n, "this", func(_ int, v *yaml.Node) {
			var s string
			p.text(&s)(v)
			*into = append(*into, s)
		})
	}
}

func (p *parser) boolean(n *yaml.Node) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Decode(&b) != nil {
		p.at(n, "not true or false")
	}
	return b
}

// value turns a node into plain values: text, int64, float64, bool, nil, time, lists and maps.
func (p *parser) value(n *yaml.Node, depth int) any {
	if depth > maxDepth {
		p.at(n, "nested deeper than %d", maxDepth)
		return nil
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return p.scalar(n)
	case yaml.SequenceNode:
		out := make([]any, len(n.Content))
		for i, v := range n.Content {
			out[i] = p.value(v, depth+1)
		}
		return out
	case yaml.MappingNode:
		out := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = p.value(n.Content[i+1], depth+1)
		}
		return out
	default:
		p.at(n, "aliases are not allowed")
		return nil
	}
}

func (p *parser) scalar(n *yaml.Node) any {
	var v any
	if err := n.Decode(&v); err != nil {
		p.at(n, "%v", err)
		return nil
	}
	switch v := v.(type) {
	case int:
		return int64(v)
	case uint64:
		p.at(n, "%s is too large", n.Value)
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			p.at(n, "%s is not a finite number", n.Value)
		}
		return v
	case time.Time:
		return v.UTC()
	}
	return v
}
