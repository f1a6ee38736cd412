package listener

import (
	"strings"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"catena/engine"
	"catena/engine/library"
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

	positions map[string]engine.Position
	last      atomic.Pointer[planned]
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
	l.Step = engine.Step{File: p.File, Line: root.Line, Column: root.Column, Positions: map[string]engine.Position{}}
	l.positions = map[string]engine.Position{}
	library.Positions(root, "", l.positions)
	if at, ok := l.positions["condition"]; ok {
		l.Step.Positions["when"] = at
	}
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
		"condition": func(v *yaml.Node) {
			p.Text(&l.Condition)(v)
			if err := engine.CheckExpression(l.Condition, true); err != nil {
				p.At(v, "condition: %v", err)
			}
		},
		"run":         func(v *yaml.Node) { p.Run(v, &l.Step) },
		"params":      func(v *yaml.Node) { p.Params(v, &l.Step) },
		"afterCommit": func(v *yaml.Node) { l.After = p.Boolean(v) },
		"as":          p.Text(&l.As),
	})
	if !seen["name"] {
		p.At(root, "a listener must have a name")
	} else {
		p.Name(root, l.Name)
	}
	if l.Step.Op == "" {
		p.At(root, "a listener must have run: the operation, chain or script")
	}
	if len(l.Events) == 0 || len(l.Events) > maxEvents {
		p.At(root, "a listener must have 1 to %d events", maxEvents)
	}
	l.Path = strings.TrimSuffix(l.Path, "/")
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
