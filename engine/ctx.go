package engine

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/netip"
	"sync"
	"time"

	"catena/engine/pdf"
	"catena/engine/program"
	"catena/engine/quoted"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/work"
)

// Ctx is all that an operation may touch: the transaction, who acts, one instant, and what
// the chain around it has set. It belongs to one goroutine and one attempt of one call.
type Ctx struct {
	context.Context //nolint:containedctx // a Ctx is the context of its call

	Tx         *storage.Tx        // nil for an operation that is Pure
	As         *storage.Principal // who acts
	Now        time.Time          // one instant for the whole call
	Vars       map[string]any     // context variables, to be read; SetVar changes them
	Input      any                // the current input
	Log        *slog.Logger
	EntryPoint EntryPoint // where this call, or this inner call, comes from

	run    *running
	params map[string]any     // parameters of the chain around
	stacks *[stackKinds][]any // made on first use
	logins []login
	trace  *Trace
	depth  int
	chain  string // the stored chain whose steps run; "": none
	line   int
	watch  work.Watch

	turn     *sync.Mutex // held by the branch of a parallel step that runs; nil outside of one
	resume   *Suspension // where the chain that is called next goes on; nil: it begins
	resumed  string      // id of the run that goes on
	returned *returned   // what ends the chain that runs; nil: nothing does
}

// itemWork is what an item of a list counts as work: finding a document, for example.
const itemWork = 10_000

// Check is for loops over what a caller sent: it is called for each item and returns why the call must end once it
// must. What reads the store in a loop need not call it, for the store checks by itself.
func (c *Ctx) Check() error { return c.watch.Do(c.Context, itemWork) }

// Reader is r for an operation that reads all of it: reading fails once the call has ended.
func (c *Ctx) Reader(r io.Reader) io.Reader { return work.Reader(c, r) }

// login is who acted before a login.
type login struct {
	as *storage.Principal
	tx *storage.Tx
}

// Stack is one of the four stacks of a context.
type Stack uint8

// The stacks.
const (
	Document Stack = iota
	Documents
	Files
	FileLists
	stackKinds
)

const maxStack = 1000

// Remote returns the address that the call came from; the zero value if it came from none.
func (c *Ctx) Remote() netip.Addr { return c.run.args.Remote }

// Push puts a value on a stack.
func (c *Ctx) Push(s Stack, v any) error {
	if c.stacks == nil {
		c.stacks = new([stackKinds][]any)
	}
	if len(c.stacks[s]) >= maxStack {
		return fault.Limit.Errorf("stack: more than %d values", maxStack).WithCode(fault.CodeStack)
	}
	c.stacks[s] = append(c.stacks[s], v)
	return nil
}

// Pop takes the value off a stack that was pushed last; ok is false if it is empty.
func (c *Ctx) Pop(s Stack) (v any, ok bool) {
	if c.stacks == nil || len(c.stacks[s]) == 0 {
		return nil, false
	}
	n := len(c.stacks[s])
	v = c.stacks[s][n-1]
	c.stacks[s] = c.stacks[s][:n-1]
	return v, true
}

// Pull takes the value off a stack that was pushed first; ok is false if it is empty.
func (c *Ctx) Pull(s Stack) (v any, ok bool) {
	if c.stacks == nil || len(c.stacks[s]) == 0 {
		return nil, false
	}
	v = c.stacks[s][0]
	c.stacks[s] = c.stacks[s][1:]
	return v, true
}

// Login has the rest of the chain act as somebody else.
func (c *Ctx) Login(p *storage.Principal) {
	if c.As != nil && c.As.ReadOnly && !p.ReadOnly {
		limited := *p
		limited.ReadOnly = true
		p = &limited
	}
	c.logins = append(c.logins, login{c.As, c.Tx})
	c.As = p
	if c.Tx != nil {
		c.Tx = c.Tx.As(p)
	}
}

// Logout ends the last login, if there is one.
func (c *Ctx) Logout() {
	if len(c.logins) > 0 {
		c.restore(len(c.logins) - 1)
	}
}

// restore ends the logins above a height.
func (c *Ctx) restore(height int) {
	if len(c.logins) > height {
		c.As, c.Tx = c.logins[height].as, c.logins[height].tx
		c.logins = c.logins[:height]
	}
}

// SetVar gives a context variable a value.
func (c *Ctx) SetVar(name string, v any) {
	if c.Vars == nil {
		c.Vars = map[string]any{}
	}
	c.Vars[name] = v
}

// Sub returns a context within this one: the same transaction and trace, stacks and logins
// of its own, and variables of its own if isolated.
func (c *Ctx) Sub(isolate bool) *Ctx {
	if c.Vars == nil {
		c.Vars = map[string]any{} // one map for both
	}
	sub := *c
	sub.stacks, sub.logins = nil, nil
	if isolate {
		sub.Vars = maps.Clone(c.Vars)
	}
	return &sub
}

// NewID returns a new identifier.
func (c *Ctx) NewID() string {
	if c.Tx != nil {
		return c.Tx.NewID()
	}
	return c.Engine().newID()
}

// Enqueue adds a job to the outbox of this transaction.
func (c *Ctx) Enqueue(kind string, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}
	if c.Tx == nil {
		return fault.Invalid.Errorf("job %s: this operation is read-only", kind)
	}
	as := c.As.Name
	if c.As.Actor != "" {
		as = c.As.Actor
	}
	return outbox.Enqueue(c.Tx, outbox.Job{Kind: kind, As: as, Data: raw})
}

// After has f run once the call is committed, for what is kept in memory only: caches, the
// engine's set. Its errors are logged. Nothing runs after a dry run.
func (c *Ctx) After(f func(ctx context.Context) error) {
	if c.run != nil {
		c.run.after = append(c.run.after, f)
	} else if c.Tx != nil {
		c.Tx.AfterCommit(func() { report(c.Log, f(context.WithoutCancel(c.Context))) })
	}
}

// Ask has f run in a separate transaction once the call is done, as the server acting for
// the caller. It is how an operation that Reads has work begun which changes nothing that
// anybody wrote: f may only note what is derived from documents, such as a picture to be drawn
// of one, and looks for itself whether that still is to be done, for others may have asked the
// same meanwhile. Who may only read may ask. Errors of f are logged; a dry run asks nothing.
func (c *Ctx) Ask(f func(tx *storage.Tx) error) {
	if c.Tx == nil {
		return
	}
	repo, as := c.Tx.Repo(), c.As
	c.After(func(ctx context.Context) error {
		system := repo.System()
		if system.Actor = as.Actor; system.Actor == "" {
			system.Actor = as.Name
		}
		return repo.Update(ctx, system, f)
	})
}

func report(log *slog.Logger, err error) {
	if err != nil && log != nil {
		log.Error("after commit", "error", err)
	}
}

// ChainName returns the name of the stored chain whose step calls the operation, "" if none does.
func (c *Ctx) ChainName() string {
	if c.EntryPoint != Chain {
		return ""
	}
	return c.chain
}

// Engine returns the engine that runs the call.
func (c *Ctx) Engine() *Engine {
	if c.run == nil {
		return nil
	}
	return c.run.e
}

// PDF returns the tool that works on PDF files.
func (c *Ctx) PDF() *pdf.Tool {
	if c.run == nil {
		return pdf.New(nil, "", pdf.Limits{})
	}
	return c.run.e.pdf
}

// Programs returns the programs of others that convert files; nil if there are none.
func (c *Ctx) Programs() *program.Programs {
	if c.run == nil {
		return nil
	}
	return c.run.e.programs
}

// Set returns the operations the call began with.
func (c *Ctx) Set() *Set {
	if c.run == nil {
		return nil
	}
	return c.run.set
}

// Device returns the computer that the client says it runs on, "" if it does not say.
func (c *Ctx) Device() string {
	if c.run == nil || c.run.call == nil {
		return ""
	}
	return c.run.call.Device
}

// RequestID returns the identifier of the request the call came with, if any.
func (c *Ctx) RequestID() string {
	if c.run == nil {
		return ""
	}
	return c.run.call.RequestID
}

// ChainParameters returns the parameters of the chain around; they are not to be changed.
func (c *Ctx) ChainParameters() map[string]any { return c.params }

// Exit returns an error that ends the chain normally, with out as its result; rollback
// undoes what the call has written.
func (c *Ctx) Exit(out any, rollback bool) error { return &exit{out: out, rollback: rollback} }

// Quoted returns a long text as JSON, which is kept under its key, if the result is only encoded: in a call that says so
// (Call.Quotes), and not in a call within it. Otherwise ok is false, and the result has to hold the text itself.
func (c *Ctx) Quoted(key quoted.Key, read func() (string, error)) (text quoted.Text, ok bool, err error) {
	if c.run == nil || c.depth > 0 || !c.run.call.Quotes {
		return nil, false, nil
	}
	text, err = c.run.e.quoted.Get(key, read)
	return text, err == nil, err
}

// Line notes the line of the script that runs, for the trace.
func (c *Ctx) Line(n int) { c.line = n }

// DryRun reports whether the call will be rolled back whatever happens.
func (c *Ctx) DryRun() bool { return c.run != nil && c.run.call.DryRun }
