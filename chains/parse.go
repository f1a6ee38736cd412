package chains

import (
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
)

// Chain is a chain as written: what it takes and gives, and its steps in order.
type Chain struct {
	Name, Label, Description, Since string
	Aliases                         []string
	Input, Output                   string // type words; "" is any
	Params                          []engine.Param
	Variables                       []string // that callers set
	Steps                           []engine.Step
	OnError                         *engine.Handler
	File                            string
}

// Parse reads a chain from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Chain, []library.Problem) {
	p := &parser{Parser: library.Parser{File: file}}
	root := p.Root(src, "chain")
	if root == nil {
		return nil, p.Problems
	}
	c := &Chain{File: file}
	p.chain(c, root)
	if len(p.Problems) > 0 {
		return nil, p.Problems
	}
	return c, nil
}

// parser reads a chain.
type parser struct{ library.Parser }

func (p *parser) chain(c *Chain, n *yaml.Node) {
	seen := p.Fields(n, "a chain", map[string]func(*yaml.Node){
		"name":        p.Text(&c.Name),
		"label":       p.Text(&c.Label),
		"description": p.Text(&c.Description),
		"since":       p.Text(&c.Since),
		"aliases":     p.Texts(&c.Aliases),
		"input":       p.word(&c.Input),
		"output":      p.word(&c.Output),
		"params": func(v *yaml.Node) {
			p.List(v, "params", func(_ int, v *yaml.Node) { c.Params = append(c.Params, p.declared(v)) })
		},
		"variables": p.Texts(&c.Variables),
		"steps":     func(v *yaml.Node) { p.steps(c, v) },
		"onError":   func(v *yaml.Node) { c.OnError = p.handler(v) },
	})
	switch {
	case c.Name == "" && seen["name"]:
	case c.Name == "":
		p.At(n, "a chain must have a name")
	case strings.ContainsAny(c.Name, "/\\ \t\n@?#%") || len(c.Name) > 100:
		p.At(n, "name %q: must contain only letters, digits and . _ - ( ), at most 100 bytes", c.Name)
	}
	if n.Kind == yaml.MappingNode && !seen["steps"] {
		p.At(n, "a chain must have steps")
	}
	if c.Description == "" {
		c.Description = "Chain of " + filepath.Base(p.File) + "."
	}
}

func (p *parser) steps(c *Chain, n *yaml.Node) {
	p.List(n, "steps", func(i int, v *yaml.Node) {
		p.Step = i + 1
		s := engine.Step{File: p.File, Line: v.Line, Column: v.Column, Places: map[string]engine.Place{}}
		library.Places(v, "", s.Places)
		p.Fields(v, "a step", map[string]func(*yaml.Node){
			"op":      p.Text(&s.Op),
			"params":  func(v *yaml.Node) { s.Params = p.params(v, s.Places) },
			"as":      p.Text(&s.As),
			"when":    p.Text(&s.When),
			"onError": func(v *yaml.Node) { s.OnError = p.handler(v) },
		})
		if s.Op == "" {
			p.At(v, "a step must have an op")
		}
		c.Steps = append(c.Steps, s)
		p.Step = 0
	})
}

func (p *parser) params(n *yaml.Node, places map[string]engine.Place) map[string]any {
	m := map[string]any{}
	if n.Kind != yaml.MappingNode {
		p.At(n, "params is not a map")
		return m
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		p.Param = k.Value
		if _, twice := m[k.Value]; twice {
			p.At(k, "parameter %q is given more than once", k.Value)
		}
		m[k.Value] = p.Value(v)
		p.Param = ""
	}
	library.Places(n, "", places)
	return m
}

// declared is a parameter the chain itself takes.
func (p *parser) declared(n *yaml.Node) engine.Param {
	out := engine.Param{Type: "string"}
	seen := p.Fields(n, "a parameter", map[string]func(*yaml.Node){
		"name":        p.Text(&out.Name),
		"type":        p.word(&out.Type),
		"description": p.Text(&out.Doc),
		"required":    func(v *yaml.Node) { out.Required = p.Boolean(v) },
		"default":     func(v *yaml.Node) { out.Default = p.Value(v) },
		"values":      p.Texts(&out.Values),
		"secret":      func(v *yaml.Node) { out.Secret = p.Boolean(v) },
	})
	if !seen["secret"] {
		out.Secret = engine.SecretName(out.Name)
	}
	if out.Name == "" {
		p.At(n, "a parameter must have a name")
	}
	return out
}

// word reads the name of a type.
func (p *parser) word(into *string) func(*yaml.Node) {
	read := p.Text(into)
	return func(n *yaml.Node) {
		read(n)
		if err := engine.CheckWord(*into); err != nil {
			p.At(n, "%s", err)
		}
	}
}

func (p *parser) handler(n *yaml.Node) *engine.Handler {
	h := &engine.Handler{}
	seen := p.Fields(n, "onError", map[string]func(*yaml.Node){
		"chain":    p.Text(&h.Chain),
		"continue": func(v *yaml.Node) { h.Continue = p.Boolean(v) },
		"result":   func(v *yaml.Node) { h.Result = p.Value(v) },
	})
	if len(seen) != 1 {
		p.At(n, "onError must be chain, continue or result")
	}
	return h
}
