// Package hook runs operations, chains and scripts when another service sends a request to an address of the server,
// for example because a form was filled in or a payment arrived. A hook is a text; engine/library keeps its versions.
// Who knows its secret may send: as a bearer token, or better as a signature of what is sent.
//
// By default a request is answered once it is stored as a job of the outbox, which is then run until it succeeds as other
// jobs are: a sender need not wait, and nothing it was told had arrived is lost. A request that names itself, as those of
// most services do, is carried out once however often it is sent.
package hook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/keyring"
	"catena/storage/schema"
)

// table keeps how the last run of each hook ended.
const table = "hook"

const maxReason = 2000

// Hooks are the hooks of one engine.
type Hooks struct {
	Users func(name string) bool // the users that there are; nil: those of the repository

	kind   *library.Kind
	engine *engine.Engine

	mu       sync.Mutex
	deployed map[string]*Hook
}

// New returns the hooks of an engine, none yet.
func New() *Hooks {
	h := &Hooks{deployed: map[string]*Hook{}}
	h.kind = &library.Kind{Family: "Hook", Noun: "hook", Ext: []string{".yaml", ".yml", ".json"}, Check: h.check, Put: h.put, Keep: keep, Works: works}
	return h
}

// Load deploys the hooks that are kept, at start.
func (h *Hooks) Load(ctx context.Context, e *engine.Engine) error {
	h.engine = e
	return h.kind.Load(ctx, e)
}

// Refresh deploys what other servers have deployed on the same store.
func (h *Hooks) Refresh(ctx context.Context, e *engine.Engine) error { return h.kind.Refresh(ctx, e) }

// Lacks are the deployed hooks that do not work on this server.
func (h *Hooks) Lacks(e *engine.Engine) []library.Lack { return h.kind.Lacks(e) }

// Sync applies the files of a folder whose text is not what is deployed.
func (h *Hooks) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	return h.kind.Sync(ctx, e, dir)
}

// check finds everything that is wrong with a text.
func (h *Hooks) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	one, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return "", problems, nil
	}
	return one.Name, one.Check(c, file, one.in(), variable, h.Users), nil
}

// works finds what of a deployed hook this server does not have.
func works(set *engine.Set, types *schema.Registry, file, source string) []library.Problem {
	one, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return problems
	}
	return one.Works(set, types, file, one.in(), variable)
}

// keep forgets the secrets of a hook in the transaction that removes it: a hook of the same name is another one. A server that
// hears of it later would forget those of the next one.
func keep(tx *storage.Tx, v library.Version) error {
	if !v.Deleted {
		return nil
	}
	if err := keyring.Hooks.Forget(tx, v.Name); err != nil {
		return err
	}
	return tx.Table(table).Delete(v.Name)
}

// put takes the deployed hooks.
func (h *Hooks) put(all []library.Version) error {
	deployed := map[string]*Hook{}
	var errs []error
	for _, v := range all {
		one, problems := Parse(v.File, []byte(v.Source))
		if len(problems) > 0 {
			errs = append(errs, fmt.Errorf("hook %s: %w", v.Name, problems[0]))
			continue
		}
		deployed[v.Name] = one
	}
	h.mu.Lock()
	h.deployed = deployed
	h.mu.Unlock()
	return errors.Join(errs...)
}

// find returns a deployed hook; nil if there is none.
func (h *Hooks) find(name string) *Hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.deployed[name]
}

// names are the deployed hooks in order.
func (h *Hooks) names() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.deployed))
}

// state is the row of a hook, about runs that no sender waits for.
type state struct {
	Last    time.Time `json:"last,omitzero"`     // when the last run ended
	Failure string    `json:"failure,omitempty"` // why it failed
}

// errUnknown is the error of a hook that is not deployed.
func errUnknown(name string) error { return fault.NotFound.Errorf("hook %s", name) }
