package listener

import (
	"errors"
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/expr"
	"catena/engine/library"
	"catena/storage/fault"
)

const (
	usualOrder = 200
	maxEvents  = 100
)

// Listener is a listener as written.
type Listener struct {
	Name, Description string
	Events            []string
	Order             int // lower ones run first
	Disabled          bool

	// What must hold; empty parts hold always.
	Types, States []string
	Facet         string
	Path          string   // the document is at or below it
	Class         string   // as in Document.Filter
	Groups        []string // who acts is in one of them
	Admin         bool     // who acts is an administrator
	Condition     string

	Step  engine.Step // what runs
	After bool        // after the commit
	As    string      // user it runs as; "": who caused the event

	last atomic.Pointer[planned]
}

type planned struct {
	set  *engine.Set
	plan *engine.Plan
}

// Parse reads a listener from YAML or JSON. Every problem of the text is reported at once.
func Parse(file string, src []byte) (*Listener, []library.Problem) {
	p := &library.Parser{File: file}
	l := &Listener{Order: usualOrder}
	root := p.Root(src, "listener")
	if root == nil {
		return nil, p.Problems
	}
	read(p, l, root)
	if len(p.Problems) > 0 {
		return nil, p.Problems
	}
	return l, nil
}

func read(p *library.Parser, l *Listener, root *yaml.Node) {
	l.Step = engine.Step{File: p.File, Line: root.Line, Column: root.Column, ParamLines: map[string]int{}}
	var condition *yaml.Node
	seen := p.Fields(root, "a listener", map[string]func(*yaml.Node){
		"name":        p.Text(&l.Name),
		"description": p.Text(&l.Description),
		"events":      p.Texts(&l.Events),
		"order": func(v *yaml.Node) {
			if n, ok := p.Value(v).(int64); ok {
				l.Order = int(n)
			} else {
				p.At(v, "must be a number")
			}
		},
		"enabled":         func(v *yaml.Node) { l.Disabled = !p.Boolean(v) },
		"types":           p.Texts(&l.Types),
		"facet":           p.Text(&l.Facet),
		"lifecycle":       p.Texts(&l.States),
		"path":            p.Text(&l.Path),
		"attribute":       p.Text(&l.Class),
		"groups":          p.Texts(&l.Groups),
		"isAdministrator": func(v *yaml.Node) { p.Boolean(v); l.Admin = true }, // the platform's meaning: false asks for one too
		"condition":       func(v *yaml.Node) { condition = v; p.Text(&l.Condition)(v) },
		"run": func(v *yaml.Node) {
			l.Step.Line, l.Step.Column = v.Line, v.Column
			p.Text(&l.Step.Op)(v)
		},
		"params":      func(v *yaml.Node) { l.Step.Params = params(p, v, l.Step.ParamLines) },
		"afterCommit": func(v *yaml.Node) { l.After = p.Boolean(v) },
		"as":          p.Text(&l.As),
	})
	if condition != nil {
		if _, err := expr.Parse(l.Condition, true); err != nil {
			p.At(condition, "condition: %v", err)
		}
	}
	switch {
	case !seen["name"]:
		p.At(root, "a listener must have a name")
	case l.Name == "" || strings.ContainsAny(l.Name, "/\\ \t\n@?#%") || len(l.Name) > 100:
		p.At(root, "name %q: must contain only letters, digits and . _ - ( ), at most 100 bytes", l.Name)
	}
	if l.Step.Op == "" {
		p.At(root, "a listener must have run: the operation, chain or script")
	}
	if len(l.Events) == 0 || len(l.Events) > maxEvents {
		p.At(root, "a listener must have 1 to %d events", maxEvents)
	}
	l.Path = strings.TrimSuffix(l.Path, "/")
}

func params(p *library.Parser, n *yaml.Node, lines map[string]int) map[string]any {
	m, _ := p.Value(n).(map[string]any)
	if n.Kind != yaml.MappingNode {
		p.At(n, "params is not a map")
		return nil
	}
	for _, k := range n.Content {
		lines[k.Value] = k.Line
	}
	return m
}

// plan resolves what the listener runs against a set.
func (l *Listener) plan(set *engine.Set) (*engine.Plan, error) {
	if last := l.last.Load(); last != nil && last.set.Same(set) {
		return last.plan, nil
	}
	p, err := set.Plan([]engine.Step{l.Step}, "", engine.PlanOptions{Trusted: true, Name: l.Name})
	if err == nil {
		l.last.Store(&planned{set: set, plan: p})
	}
	return p, err
}

// problemsOf places the errors of a plan.
func (l *Listener) problemsOf(err error) []library.Problem {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		var out []library.Problem
		for _, e := range joined.Unwrap() {
			out = append(out, l.problemsOf(e)...)
		}
		return out
	}
	p := library.Problem{File: l.Step.File, Line: l.Step.Line, Column: l.Step.Column, Message: err.Error()}
	var f *fault.Error
	if errors.As(err, &f) {
		p.Line, p.Column, p.Param = max(f.Line, 1), max(f.Column, 1), f.Field
	}
	return []library.Problem{p}
}
