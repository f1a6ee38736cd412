// Package listener runs operations, chains and scripts when something happens to the content.
// A listener is a text that names events, filters and what to run: at once, in the transaction
// of what happens, where a failure refuses it; or after the commit, as a job that is tried again.
// Which events there are is storage's business, keeping versions of the texts engine/library's.
package listener

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
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
		Check: ls.check, Put: ls.put,
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
	_, err := l.plan(c.Set())
	return l.Name, l.problemsOf(err), nil
}

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
