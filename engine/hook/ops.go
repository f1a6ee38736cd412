package hook

import (
	"net/url"
	"time"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/keyring"
)

// Path is where the addresses of hooks begin.
const Path = "/hooks/"

// Ops are the operations that manage hooks.
func (h *Hooks) Ops() []engine.Op {
	op := func(verb, label, doc string, effect engine.Effect, run engine.Func) engine.Op {
		return engine.Op{Name: "Hook." + verb, Label: label, Category: "Scripting", Doc: doc, Effect: effect, Callers: engine.Admins.From(engine.Direct), Run: run}
	}
	renew := op("RenewSecret", "Make a new secret of a hook",
		"Makes a new secret of a hook and returns it this once, with the path of the hook's address. A secret before it stays valid for a day.", engine.Writes,
		engine.On(func(p nameParams, c *engine.Ctx, _ engine.Void) (Secret, error) { return h.renew(c, p.Name) }))
	renew.Secret = true
	return append(h.kind.Ops(), renew,
		op("Status", "Status of hooks", "Returns for each deployed hook the path of its address, and when the last run in the background ended and how it failed.", engine.Reads,
			engine.On(func(_ noParams, c *engine.Ctx, _ engine.Void) ([]Status, error) { return h.status(c) })))
}

type noParams struct{}

type nameParams struct {
	Name string `json:"name" doc:"Name of the hook."`
}

// Secret is a new secret of a hook.
type Secret struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Secret string `json:"secret"`
}

// Status is where a hook stands.
type Status struct {
	Name    string    `json:"name"`
	Path    string    `json:"path"`  // of its address
	State   string    `json:"state"` // enabled or disabled
	Run     string    `json:"run"`
	User    string    `json:"user"`
	Last    time.Time `json:"last,omitzero"`
	Failure string    `json:"failure,omitempty"`
}

func (h *Hooks) renew(c *engine.Ctx, name string) (Secret, error) {
	if h.find(name) == nil {
		return Secret{}, errUnknown(name)
	}
	text, err := keyring.Hooks.Renew(c.Tx, name)
	return Secret{Name: name, Path: pathOf(name), Secret: text}, err
}

func pathOf(name string) string { return Path + url.PathEscape(name) }

func (h *Hooks) status(c *engine.Ctx) ([]Status, error) {
	out := []Status{}
	for _, name := range h.names() {
		if err := c.Check(); err != nil {
			return nil, err
		}
		one := h.find(name)
		if one == nil {
			continue // removed meanwhile
		}
		var st state
		if _, err := c.Tx.Table(table).Get(name, &st); err != nil {
			return nil, err
		}
		s := Status{Name: name, Path: pathOf(name), State: "enabled", Run: one.Step.Op, User: one.As, Last: st.Last, Failure: st.Failure}
		if one.Disabled {
			s.State = "disabled"
		}
		out = append(out, s)
	}
	return out, nil
}

// errUnverified is the error of a request whose sender did not show that it knows the secret, and of one to a hook that there
// is not: nobody is told which there are.
var errUnverified = fault.Denied.New("the hook does not exist, or the request is not signed with its secret")
