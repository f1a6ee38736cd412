// Package chains reads chains, which combine operations in YAML or JSON, and turns them into operations. A chain is
// checked when it is saved: names, parameters, the types that flow from step to step, and circles across chains.
// Keeping versions of the texts is engine/library's; resolving and running steps is the engine's.
package chains

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"catena/engine"
	"catena/engine/find"
	"catena/engine/library"
	"catena/storage/schema"
)

// The engine has a bound of its own when a chain runs; this one makes the check of a text end.
const maxNesting = 32 // chains within chains

// Chains are the chains of one engine.
type Chains struct {
	// Workflows are the nodes of workflows that name an operation; nil: there are no workflows.
	Workflows func(name string) []Use

	kind   *library.Kind
	finder atomic.Pointer[find.Finder]
}

// New returns the chains of an engine, none yet.
func New() *Chains {
	ch := &Chains{}
	ch.kind = &library.Kind{
		Family: "Chain", Noun: "chain", Ext: []string{".yaml", ".yml", ".json"},
		Check: ch.check, Compile: compile, Works: works,
	}
	return ch
}

// Ops are the operations that manage chains.
func (ch *Chains) Ops() []engine.Op { return append(ch.kind.Ops(), ch.editing()...) }

// Load deploys the chains that are kept, at start.
func (ch *Chains) Load(ctx context.Context, e *engine.Engine) error { return ch.kind.Load(ctx, e) }

// Refresh follows what other processes deploy in the same store.
func (ch *Chains) Refresh(ctx context.Context, e *engine.Engine) error {
	return ch.kind.Refresh(ctx, e)
}

// Lacks are the deployed chains that do not work on this server.
func (ch *Chains) Lacks(e *engine.Engine) []library.Lack { return ch.kind.Lacks(e) }

// Sync applies the files of a folder whose text is not what is deployed.
func (ch *Chains) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	return ch.kind.Sync(ctx, e, dir)
}

// check finds everything that is wrong with a text.
func (ch *Chains) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	chain, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return "", problems, nil
	}
	if limit, all := c.Engine().Limits().Steps, chain.all(); len(all) > limit {
		s := all[limit]
		return chain.Name, []library.Problem{{File: file, Line: s.Line, Column: s.Column, Step: limit + 1, Message: fmt.Sprintf("more than %d steps", limit)}}, nil
	}
	// The order matters: the number of steps is bounded before they are resolved, and circles are
	// looked for last, because that may read the texts of many chains.
	problems, err := chain.checkEvents(c, source)
	if err != nil {
		return chain.Name, nil, err
	}
	if _, err := chain.plan(c.Set(), c.Tx.Repo().Types()); err != nil {
		return chain.Name, append(problemsOf(chain, err), problems...), nil
	}
	circle, err := ch.circle(c, chain)
	if err != nil || circle == nil {
		return chain.Name, problems, err
	}
	message := "the chain calls itself: " + strings.Join(circle, " → ")
	if len(circle) > maxNesting {
		message = "chains are nested more than 32 deep: " + strings.Join(circle, " → ")
	}
	return chain.Name, append(problems, library.Problem{File: file, Line: 1, Column: 1, Message: message}), nil
}

// checkEvents looks at the names of events that the chain waits for.
func (chain *Chain) checkEvents(c *engine.Ctx, source string) (problems []library.Problem, err error) {
	var names []string
	for _, s := range chain.all() {
		if name, _ := s.Awaits(); name != "" {
			names = append(names, name)
		}
	}
	wrong, err := library.CheckEvents(c, "chain", library.Version{Name: chain.Name, Source: source}, names)
	for n, s := range chain.all() {
		name, at := s.Awaits()
		if p, ok := wrong[name]; ok {
			p.File, p.Line, p.Column, p.Step, p.Param = chain.File, at.Line, at.Column, n+1, engine.BlockWait+"/"+engine.WaitedEvent
			p.Message = fmt.Sprintf("step %d: wait: %s", n+1, p.Message)
			problems = append(problems, p)
		}
	}
	return problems, err
}

// circle follows the chains that a chain calls and returns the way back to one of them, or
// one that is too long; nil if there is none.
func (ch *Chains) circle(c *engine.Ctx, chain *Chain) ([]string, error) {
	f := follower{ch: ch, c: c, longest: map[string][]string{}}
	return f.follow(chain, nil)
}

// follower follows calls. Each chain is read once, however many call it.
type follower struct {
	ch      *Chains
	c       *engine.Ctx
	longest map[string][]string // ways down from the chains that have been followed to their ends
}

// follow is circle for a chain below others.
// A chain that is not stored, or whose text no longer parses, is passed over: the plan reports the
// first, and the second was reported when it was saved.
func (f *follower) follow(chain *Chain, above []string) ([]string, error) {
	above = append(above, chain.Name)
	if len(above) > maxNesting {
		return above, nil
	}
	var longest []string
	for _, name := range chain.calls() {
		if slices.Contains(above, name) {
			return append(above, name), nil
		}
		if _, known := f.longest[name]; !known {
			if found, err := f.enter(name, above); found != nil || err != nil {
				return found, err
			}
		}
		way := f.longest[name]
		if len(above)+len(way) > maxNesting {
			return append(above, way...), nil
		}
		if len(way) > len(longest) {
			longest = way
		}
	}
	f.longest[chain.Name] = append([]string{chain.Name}, longest...)
	return nil, nil
}

// enter follows a stored chain.
func (f *follower) enter(name string, above []string) ([]string, error) {
	source, ok, err := f.ch.kind.Source(f.c, name)
	if err != nil {
		return nil, err
	}
	if ok {
		if inner, problems := Parse(name, []byte(source)); len(problems) == 0 {
			return f.follow(inner, above)
		}
	}
	f.longest[name] = nil
	return nil, nil
}

// calls are the names a chain calls: as a step, as a handler, or by an operation that runs
// another one.
// Names that are expressions are found only when the chain runs; the engine's bound catches those
// circles.
func (chain *Chain) calls() []string {
	var names []string
	add := func(name string) {
		if name != "" {
			names = append(names, strings.TrimPrefix(name, "Chain."))
		}
	}
	for _, s := range chain.all() {
		if s.Block == nil {
			add(s.Op)
		}
		if s.OnError != nil {
			add(s.OnError.Chain)
		}
		if s.Undo != nil {
			add(s.Undo.Op)
		}
		if id, ok := s.Params["id"].(string); ok && strings.HasPrefix(s.Op, "Run") {
			add(id)
		}
	}
	if chain.OnError != nil {
		add(chain.OnError.Chain)
	}
	return names
}

// plan resolves the steps against a set, and checks them against the types of documents unless those are nil.
func (chain *Chain) plan(set *engine.Set, types *schema.Registry) (*engine.Plan, error) {
	return set.Plan(chain.Steps, chain.Input, engine.PlanOptions{
		Trusted: true, Params: chain.Params, Name: chain.Name, Output: chain.Output, Vars: chain.Variables, Types: types,
	})
}

// problemsOf places the errors of a plan.
func problemsOf(chain *Chain, err error) []library.Problem {
	problems := library.PlanProblems(chain.File, 1, 1, err)
	for i := range problems {
		for n, s := range chain.all() {
			if s.Line <= problems[i].Line {
				problems[i].Step = n + 1
			}
		}
	}
	return problems
}

// compile makes the operation of a checked text.
// It runs at every start and for texts that other processes have deployed, so it does not check
// types of documents: a declaration that has changed must not keep a stored chain from being
// loaded.
// works finds what of a deployed chain this server does not have: the operations, and the types of documents.
func works(set *engine.Set, types *schema.Registry, file, source string) []library.Problem {
	chain, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return problems
	}
	_, err := chain.plan(set, types)
	return problemsOf(chain, err)
}

func compile(set *engine.Set, file, source string) (engine.Op, error) {
	chain, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return engine.Op{}, problems[0]
	}
	return chain.Op(set)
}

// Op makes the operation of a chain. Its steps are resolved once for each set of operations
// it runs with.
func (chain *Chain) Op(set *engine.Set) (engine.Op, error) {
	p, err := chain.plan(set, nil)
	if err != nil {
		return engine.Op{}, err
	}
	r := &resolved{chain: chain}
	r.last.Store(&planned{set: set, plan: p})
	sets, others := p.Sets()
	run := engine.Dynamic(chain.Params, p.Signature(), r.run)
	if chain.Output == "void" {
		run = run.Exact()
	}
	return engine.Op{
		Name: chain.Name, Aliases: chain.Aliases, Label: chain.Label, Category: "Chain", Doc: chain.Description, Sets: sets, SetsAny: others,
		Since: chain.Since, Effect: p.Effect(), Callers: chain.Callers, Run: run,
	}, nil
}

// resolved is a chain with its plan for the set it ran with last.
// Two calls may resolve the same plan at once, and either serves: last is only a memory.
type resolved struct {
	chain *Chain
	last  atomic.Pointer[planned]
}

type planned struct {
	set  *engine.Set
	plan *engine.Plan
}

func (r *resolved) plan(set *engine.Set) (*engine.Plan, error) {
	if last := r.last.Load(); last.set.Same(set) {
		return last.plan, nil
	}
	p, err := r.chain.plan(set, nil)
	if err == nil {
		r.last.Store(&planned{set: set, plan: p})
	}
	return p, err
}

// run carries out the chain. With a handler for the whole chain, a failure undoes what the
// chain has written and the handler's result takes its place.
func (r *resolved) run(c *engine.Ctx, in any, _ map[string]any) (any, error) {
	p, err := r.plan(c.Set())
	if err != nil {
		return nil, err
	}
	if r.chain.OnError == nil {
		return p.Run(c, in)
	}
	out, err := c.Guard(r.chain.OnError, in, func() (any, error) { return p.Run(c, in) })
	if err != nil {
		return nil, err
	}
	return p.Declared(c, out)
}
