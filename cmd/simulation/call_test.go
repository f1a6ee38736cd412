package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage/fault"
	"catena/storage/kv"
)

// call is what a client asked for, and what came of it.
type call struct {
	n         int
	client    string
	user      string
	number    int64 // of the user who signed in; 0: there was none
	action    action
	err       error
	begun     uint64 // the version that the call read
	committed uint64 // the version that it made, 0 if it made none
}

// action is one kind of thing that clients do.
type action interface {
	fmt.Stringer
	// request is what the engine is asked. Seen takes in an answer inside its transaction.
	request() (op, input string, params map[string]any)
	seen(c *engine.Ctx, v any) error
	// expect says whether the call should succeed.
	expect(m *model, by *person) answer
	// apply changes the model as the call should have changed the repository, or says what is wrong with its answer.
	apply(m *model, by *person) error
}

// answer is whether a call should succeed.
type answer int

const (
	refused answer = iota
	granted
	either // it depends on what the model does not know
)

func when(ok bool) answer {
	if ok {
		return granted
	}
	return refused
}

// files is what an action sends with its call.
type files interface{ file() *engine.Blob }

// client makes calls until it has made enough.
func (w *world) client(n int) {
	defer w.active.Add(-1)
	r := rand.New(rand.NewPCG(w.seed, uint64(100+n)))
	a := &actor{name: fmt.Sprintf("client%d", n)}
	for range w.plan.calls {
		if w.sched.pass(a.as(context.Background()), atRest); w.over {
			return
		}
		if len(w.servers) > 1 {
			a.at = r.IntN(len(w.servers))
		}
		w.do(a, w.user(r), w.choose(r))
	}
}

// do makes a call and notes what came of it.
func (w *world) do(a *actor, user string, act action) *call {
	c := &call{n: len(w.calls), client: a.name, user: user, action: act}
	w.calls = append(w.calls, c)
	s := w.servers[a.at]
	a.call, a.committed, a.begun = c, 0, s.store.now()
	w.sched.history.add("%s %d at %d as %s: %s", a.name, c.n, a.at, user, act)
	s.calls.Add(1)
	defer s.calls.Add(-1)
	ctx, cancel := context.WithCancel(a.as(s.ctx))
	defer cancel()
	as, err := s.engine.PrincipalOf(ctx, user)
	if err == nil {
		c.number = as.ID
		op, input, params := act.request()
		call := engine.Call{Op: op, Params: params, As: as, EntryPoint: engine.REST}
		call.Encode = func(c *engine.Ctx, v any) ([]byte, error) { return nil, act.seen(c, v) }
		if f, ok := act.(files); ok {
			call.Input = f.file()
		} else if input != "" {
			raw, _ := json.Marshal("doc:" + input)
			call.Input = engine.Lazy(func(c *engine.Ctx) (any, error) { return entity.Decode(c, raw) })
		}
		_, err = s.engine.Run(ctx, call)
	}
	c.err, c.begun, c.committed = err, a.begun, a.committed
	w.sched.history.add("%s %d %s", a.name, c.n, outcome(err))
	w.learn(c)
	return c
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return fmt.Sprintf("%s: %s", fault.Of(err), strings.SplitN(err.Error(), "\n", 2)[0])
}

// disturbed reports whether an error says nothing about the call: the world failed, or it was too busy.
func disturbed(err error) bool {
	return errors.Is(err, errDead) || errors.Is(err, errIO) || errors.Is(err, errFull) || errors.Is(err, context.Canceled) ||
		errors.Is(err, kv.ErrDown) || errors.Is(err, kv.ErrUncertain) || strings.Contains(err.Error(), "conflicted with others") || strings.Contains(err.Error(), "the call took longer")
}

// judge plays all calls to the model in the order in which they took effect, and says what they answered wrongly.
func (w *world) judge() {
	order := slices.Clone(w.calls)
	slices.SortStableFunc(order, func(a, b *call) int { return cmp.Compare(a.place(), b.place()) })
	for _, c := range order {
		if err := c.judge(w.model); err != nil {
			w.problem("call %d of %s as %s: %s: %v", c.n, c.client, c.user, c.action, err)
		}
	}
}

// place orders calls: one that made a version comes before those that read it.
func (c *call) place() uint64 {
	if c.committed > 0 {
		return 2 * c.committed
	}
	return 2*c.begun + 1
}

func (c *call) judge(m *model) error {
	by := m.people[c.user]
	if by != nil && by.number != c.number {
		by = nil // the one who signed in is gone
	}
	if c.err != nil && disturbed(c.err) {
		if c.committed > 0 && by != nil {
			return c.action.apply(m, by)
		}
		return nil
	}
	want := refused
	if by != nil {
		want = c.action.expect(m, by)
	}
	switch {
	case c.err != nil && fault.Is(c.err, fault.Internal):
		return c.err
	case c.err != nil && c.committed > 0:
		return fmt.Errorf("was made, and refused: %w", c.err)
	case c.err != nil && want == granted:
		return fmt.Errorf("was refused: %w", c.err)
	case c.err == nil && want == refused:
		return errors.New("should have been refused")
	case c.err == nil:
		return c.action.apply(m, by)
	}
	return nil
}
