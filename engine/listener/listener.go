// Package listener runs operations, chains and scripts when something happens to the content.
// A listener is a text that names events, filters and what to run: at once, in the transaction
// of what happens, where a failure refuses it; or after the commit, as a job that is tried again.
// Which events there are is storage's business, keeping versions of the texts engine/library's.
//
// A listener that runs at once is a part of the change: it sees the state before the commit, and its error
// refuses the change. One that runs afterwards is a job of the outbox, is tried again, and acts as the user
// who caused the event. Listeners that cause events again are bounded by the limits of the transaction
// (EventDepth, EventsACall).
package listener

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"sync/atomic"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/schema"
)

//go:embed defaults/*.yaml
var defaults embed.FS

// Listeners are the listeners of one engine.
type Listeners struct {
	kind   *library.Kind
	engine *engine.Engine
	table  atomic.Pointer[map[string][]*Listener] // by event, in order
}

// New returns the listeners of an engine: those that every server has.
func New() *Listeners {
	ls := &Listeners{}
	ls.kind = &library.Kind{
		Family: "Listener", Noun: "listener", Ext: []string{".yaml", ".yml", ".json"},
		Check: ls.check, Put: ls.put, Works: works,
	}
	return ls
}

// Ops are the operations that manage listeners.
func (ls *Listeners) Ops() []engine.Op { return ls.kind.Ops() }

// Load deploys the listeners that are kept and has them called from here on. It is called once, before the
// repository is used.
func (ls *Listeners) Load(ctx context.Context, e *engine.Engine) error {
	ls.engine = e
	if err := ls.put(nil); err != nil {
		return err
	}
	ls.Watch(e.Repo())
	return ls.kind.Load(ctx, e)
}

// Refresh follows what other processes deploy in the same store.
func (ls *Listeners) Refresh(ctx context.Context, e *engine.Engine) error {
	return ls.kind.Refresh(ctx, e)
}

// Lacks are the deployed listeners that do not work on this server.
func (ls *Listeners) Lacks(e *engine.Engine) []library.Lack { return ls.kind.Lacks(e) }

// Watch has the listeners called for what happens in a repository. It is called before the repository is used.
func (ls *Listeners) Watch(repo *storage.Repo) { repo.OnEvent(ls.happened) }

// Sync applies the files of a folder whose text is not what is deployed.
func (ls *Listeners) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	return ls.kind.Sync(ctx, e, dir)
}

// check finds everything that is wrong with a text.
func (ls *Listeners) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	l, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return "", problems, nil
	}
	problems = l.check(c.Set(), storage.TypesOf(c.Tx))
	events, err := l.checkEvents(c, source)
	return l.Name, append(problems, events...), err
}

// works finds what of a deployed listener this server does not have.
func works(set *engine.Set, types *schema.Registry, file, source string) []library.Problem {
	l, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return problems
	}
	return l.check(set, types)
}

// check tells what is wrong with a listener beyond its form.
func (l *Listener) check(set *engine.Set, types *schema.Registry) []library.Problem {
	var problems []library.Problem
	for _, filter := range []struct {
		key, kind string
		names     []string
	}{{"types", engine.NamesType, l.Types}, {"facet", engine.NamesFacet, []string{l.Facet}}, {"lifecycle", engine.NamesState, l.States}} {
		for i, name := range filter.names {
			if err := engine.CheckName(set, types, filter.kind, name); err != nil {
				at := l.positions[filter.key]
				if item, ok := l.positions[filter.key+"/"+strconv.Itoa(i)]; ok {
					at = item
				}
				problems = append(problems, library.Problem{File: l.Step.File, Line: at.Line, Column: at.Column, Message: filter.key + ": " + err.Error()})
			}
		}
	}
	step := l.Step
	step.When = l.Condition
	_, err := set.Plan([]engine.Step{step}, "", engine.PlanOptions{Trusted: true, Name: l.Name, Types: types, Vars: []string{eventVariable}})
	problems = append(problems, library.PlanProblems(l.Step.File, l.Step.Line, l.Step.Column, err)...)
	if err == nil {
		if err := set.Accepts(l.Step.Op, "document"); err != nil {
			problems = append(problems, library.Problem{File: l.Step.File, Line: l.Step.Line, Column: l.Step.Column, Message: "run: " + err.Error()})
		}
	}
	return problems
}

// eventVariable is the variable that tells what has happened.
const eventVariable = "Event"

// put makes the table of the deployed listeners, over those that every server has: one of the same name
// takes the place of a default.
func (ls *Listeners) put(deployed []library.Version) error {
	all, err := builtin()
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range deployed {
		l, problems := Parse(v.File, []byte(v.Source))
		if len(problems) > 0 {
			errs = append(errs, fmt.Errorf("listener %s: %w", v.Name, problems[0]))
			continue
		}
		all[l.Name] = l
	}
	table := map[string][]*Listener{}
	for _, l := range all {
		if !l.Disabled {
			for _, event := range l.Events {
				table[event] = append(table[event], l)
			}
		}
	}
	for _, list := range table {
		slices.SortFunc(list, func(a, b *Listener) int {
			return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name))
		})
	}
	ls.table.Store(&table)
	return errors.Join(errs...)
}

// builtin reads the listeners that every server has.
func builtin() (map[string]*Listener, error) {
	all := map[string]*Listener{}
	entries, err := fs.ReadDir(defaults, "defaults")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		source, err := fs.ReadFile(defaults, "defaults/"+e.Name())
		if err != nil {
			return nil, err
		}
		l, problems := Parse(e.Name(), source)
		if len(problems) > 0 {
			return nil, problems[0]
		}
		all[l.Name] = l
	}
	return all, nil
}

// find returns a deployed listener of an event by name.
func (ls *Listeners) find(event, name string) *Listener {
	for _, l := range (*ls.table.Load())[event] {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// happened is told every event, in its transaction.
func (ls *Listeners) happened(tx *storage.Tx, e storage.Event) error {
	for _, l := range (*ls.table.Load())[e.Name] {
		if !l.mayCare(tx, &e) {
			continue
		}
		if l.After {
			if err := l.enqueue(tx, &e); err != nil {
				return err
			}
			continue
		}
		if err := ls.run(tx, l, e.Doc, tx.Principal(), eventVar(tx, &e)); err != nil {
			return err
		}
	}
	return nil
}
