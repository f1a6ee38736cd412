package chains

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
)

// Chain is a chain as written: what it takes and gives, and its steps in order.
// Handlers and branches are part of Steps, so all is the way to look at every step.
type Chain struct {
	Name, Label, Description, Since string
	Aliases                         []string
	Input, Output                   string // type words; "" is any
	Params                          []engine.Param
	Variables                       []string // that callers set
	Steps                           []engine.Step
	OnError                         *engine.Handler
	Callers                         engine.Callers // zero: as the operation that it replaces, or everyone
	File                            string
}

// all are the steps, each followed by those within it.
func (chain *Chain) all() []engine.Step { return below(nil, chain.Steps) }

func below(all, steps []engine.Step) []engine.Step {
	for _, s := range steps {
		if all = append(all, s); s.Block != nil {
			for _, b := range s.Block.Branches {
				all = below(all, b.Steps)
			}
		}
	}
	return all
}

// Parse reads a chain from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Chain, []library.Problem) {
	c, _, problems := read(file, src)
	if len(problems) > 0 {
		return nil, problems
	}
	return c, nil
}

// read is Parse that also returns the tree, and as much of the chain as could be read; nil if nothing could.
func read(file string, src []byte) (*Chain, *yaml.Node, []library.Problem) {
	p := &parser{Parser: library.Parser{File: file}}
	root := p.Root(src, "chain")
	if root == nil {
		return nil, nil, p.Problems
	}
	c := &Chain{File: file}
	p.chain(c, root)
	return c, root, p.Problems
}

// parser reads a chain.
// It goes on after a mistake and notes it, so that an author sees all of them at once. What it
// returns is complete only if Problems is empty.
type parser struct {
	library.Parser
	count int // steps so far, those within others included
}

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
		"steps":     func(v *yaml.Node) { c.Steps = p.steps(v) },
		"onError":   func(v *yaml.Node) { c.OnError = p.handler(v) },
		"callers":   func(v *yaml.Node) { c.Callers = p.callers(v) },
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

// callers reads who may call the chain; others that are stored may always.
func (p *parser) callers(n *yaml.Node) engine.Callers {
	switch n.Value {
	case "anyone":
		return engine.Anyone
	case "scripters":
		return engine.Scripters.OrStored()
	case "administrators":
		return engine.Admins.OrStored()
	}
	p.At(n, "callers must be anyone, scripters or administrators")
	return engine.Callers{}
}

// steps reads a list of steps, within another one or not.
func (p *parser) steps(n *yaml.Node) (steps []engine.Step) {
	p.List(n, "steps", func(_ int, v *yaml.Node) {
		// Steps are numbered in the order of the text, with those inside others counted, as all
		// lists them.
		outer := p.Step
		p.count++
		p.Step = p.count
		steps = append(steps, p.step(v))
		p.Step = outer
	})
	return steps
}

func (p *parser) step(v *yaml.Node) engine.Step {
	s := engine.Step{File: p.File, Line: v.Line, Column: v.Column, Positions: map[string]engine.Position{}}
	library.Positions(v, "", s.Positions)
	fields := map[string]func(*yaml.Node){
		"op":      p.Text(&s.Op),
		"params":  func(v *yaml.Node) { s.Params = p.params(v, s.Positions) },
		"as":      p.Text(&s.As),
		"when":    p.Text(&s.When),
		"onError": func(v *yaml.Node) { s.OnError = p.handler(v) },
		"retry":   func(v *yaml.Node) { s.Retry = p.retry(v) },
		"undo":    func(v *yaml.Node) { s.Undo = p.undo(v) },
	}
	kind := ""
	for _, b := range engine.Blocks {
		if member(v, b.Kind) != nil {
			kind = b.Kind
		}
	}
	if kind == "" {
		if p.Fields(v, "a step", fields); s.Op == "" {
			p.At(v, "a step must have an op, or be an each, an if, a switch, a parallel, a wait or a return")
		}
		return s
	}
	// A block is not an operation: it has neither parameters nor anything to be undone by itself.
	delete(fields, "op")
	delete(fields, "params")
	delete(fields, "undo")
	s.Op, s.Block = kind, &engine.Block{Kind: kind}
	p.block(s.Block, fields)
	p.Fields(v, "the step "+kind, fields)
	p.whole(v, s.Block)
	return s
}

// member returns the value of a member of a map; nil if there is none.
func member(n *yaml.Node, name string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i+1]
		}
	}
	return nil
}

// block adds the members of a block to those that its step may have.
func (p *parser) block(b *engine.Block, fields map[string]func(*yaml.Node)) {
	branch := func(name string, other bool) func(*yaml.Node) {
		return func(v *yaml.Node) {
			b.Branches = append(b.Branches, engine.Branch{Name: name, Default: other, Steps: p.steps(v)})
		}
	}
	fields[b.Kind] = p.Text(&b.Value)
	switch b.Kind {
	case engine.BlockEach:
		b.Item = "item"
		fields["item"] = p.Text(&b.Item)
		fields["steps"] = branch("", false)
		fields["batch"] = func(v *yaml.Node) { b.Batch = p.number(v, engine.MaxBatch) }
		fields["most"] = func(v *yaml.Node) { b.Most = p.number(v, engine.MaxItems) }
	case engine.BlockIf:
		fields["then"] = branch("true", false)
		fields["else"] = branch("", true)
	case engine.BlockSwitch:
		fields["cases"] = p.branches("cases", branch)
		fields["default"] = branch("", true)
	case engine.BlockParallel:
		fields[b.Kind] = p.branches(b.Kind, branch)
	case engine.BlockWait:
		fields[b.Kind] = func(v *yaml.Node) { b.Wait = p.wait(v) }
	case engine.BlockReturn:
		fields[b.Kind] = func(v *yaml.Node) { b.Result = p.Value(v) }
		delete(fields, "as")
	}
}

// undo reads what makes up for a step.
func (p *parser) undo(v *yaml.Node) *engine.Undo {
	u := &engine.Undo{Line: v.Line}
	p.Fields(v, "undo", map[string]func(*yaml.Node){
		"op":     p.Text(&u.Op),
		"params": func(v *yaml.Node) { u.Params = p.params(v, map[string]engine.Position{}) },
	})
	if u.Op == "" {
		p.At(v, "undo must have an op")
	}
	return u
}

// wait reads what a chain waits for: a duration, or a map.
func (p *parser) wait(v *yaml.Node) map[string]any {
	w := map[string]any{}
	if v.Kind == yaml.ScalarNode {
		w["for"] = p.Value(v)
		return w
	}
	read := func(name string) func(*yaml.Node) { return func(v *yaml.Node) { w[name] = p.Value(v) } }
	fields := map[string]func(*yaml.Node){}
	for _, name := range []string{"for", "until", "event", "document", "task"} {
		fields[name] = read(name)
	}
	switch seen := p.Fields(v, "wait", fields); {
	case seen["for"] && seen["until"]:
		p.At(v, "wait has for or until, not both")
	case seen["event"] && seen["task"]:
		p.At(v, "wait has event or task, not both")
	case !seen["for"] && !seen["until"] && !seen["event"] && !seen["task"]:
		p.At(v, "wait must have for, until, event or task")
	case seen["document"] && !seen["event"] && !seen["task"]:
		p.At(v, "wait has a document only with event or task")
	}
	return w
}

// branches reads a map of lists of steps.
func (p *parser) branches(what string, branch func(name string, other bool) func(*yaml.Node)) func(*yaml.Node) {
	return func(v *yaml.Node) {
		if v.Kind != yaml.MappingNode {
			p.At(v, "%s is not a map", what)
			return
		}
		seen := map[string]bool{}
		for i := 0; i+1 < len(v.Content); i += 2 {
			name := v.Content[i].Value
			if seen[name] {
				p.At(v.Content[i], "%s has %q more than once", what, name)
			}
			seen[name] = true
			branch(name, false)(v.Content[i+1])
		}
	}
}

// whole describes members that a block lacks.
func (p *parser) whole(n *yaml.Node, b *engine.Block) {
	form, _ := engine.BlockOf(b.Kind)
	if lacks := form.Maps; form.Value {
		if lacks == "" {
			lacks = form.Lists[0]
		}
		if member(n, lacks) == nil {
			p.At(n, "the step %s must have %s", b.Kind, lacks)
		}
	}
	if b.Value == "" && form.Value {
		p.At(n, "the step %s must have an expression", b.Kind)
	}
	if b.Kind == engine.BlockEach && (b.Item == "" || b.Item == "ChainParameters") {
		p.At(n, "item %q: not a valid variable name", b.Item)
	}
	slices.SortStableFunc(b.Branches, func(x, y engine.Branch) int { return boolInt(x.Default) - boolInt(y.Default) })
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// number reads a whole number from 1 to a bound.
func (p *parser) number(n *yaml.Node, most int) int {
	v, ok := p.Value(n).(int64)
	if !ok || v < 1 || v > int64(most) {
		p.At(n, "must be a number from 1 to %d", most)
	}
	return int(v)
}

// retry reads how often a step is tried.
func (p *parser) retry(n *yaml.Node) *engine.Retry {
	r := &engine.Retry{Times: 3}
	p.Fields(n, "retry", map[string]func(*yaml.Node){
		"times": func(v *yaml.Node) { r.Times = p.number(v, engine.MaxTries) },
		"pause": func(v *yaml.Node) {
			var err error
			if r.Pause, err = time.ParseDuration(v.Value); err != nil || r.Pause < 0 || r.Pause > engine.MaxPause {
				p.At(v, "pause must be a duration up to %s, such as 500ms", engine.MaxPause)
			}
		},
	})
	return r
}

func (p *parser) params(n *yaml.Node, positions map[string]engine.Position) map[string]any {
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
	library.Positions(n, "", positions)
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
