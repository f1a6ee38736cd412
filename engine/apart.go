package engine

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// A call may have parts of it run in transactions of their own, whose effects stay when the call fails. No two of
// its transactions are open at the same time: when a step asks for such a part, the attempt that it belongs to is
// abandoned, the part is run and committed, and the attempt begins again, on a snapshot that has what the part has
// changed. When it comes to the step again, the step gets the result that was kept. So parts neither wait for their
// own call nor conflict with it, no call holds a connection to a database while it waits for another one, and what
// is committed is what would be there if the parts had been run, in their order, before the call.

// Part is work of a step in transactions of its own: one for each item, in their order.
type Part struct {
	Op       string         // what is run, by which parts are told apart
	Params   map[string]any // of it, for the same purpose
	Input    any            // documents are read again in the transaction
	Items    []any          // nil: one transaction, without an item
	Isolate  bool           // variables that it sets are forgotten
	Timeout  time.Duration  // of each transaction, if it is shorter than what is left to the call; 0: the call's
	Run      func(c *Ctx, in, item any) (any, error)
	Tolerate func(c *Ctx, err error) bool // whether a failure undoes one transaction only; the others go on
}

// frame is a transaction of a call, that of the call itself or of a part, in all its attempts.
type frame struct {
	up     *frame
	depth  int
	parts  []*part // what was run apart
	asked  int     // how many parts this attempt has come to
	wanted *part   // what this attempt was abandoned for; nil: it goes on
	stray  bool    // this attempt has taken a part for one that it was not
	exact  bool    // parts are told apart by their parameters as well
	once   once    // what its attempts have done outside
}

// part is a Part that was asked for, and what became of it.
type part struct {
	Part
	exact [sha256.Size]byte // its operation, documents and parameters
	ids   [sha256.Size]byte // its operation, and its documents by their ids, which differ if each attempt creates them
	paths [sha256.Size]byte // or by their paths, which the part may change
	ctx   *Ctx              // of the step; its transaction has ended
	as    *storage.Principal
	repo  *storage.Repo
	end   time.Time // the zero value if only the call bounds it

	outs  []any
	err   error
	vars  map[string]any
	taken []taken
	steps []*Trace
	spent [3]int // operations, steps of the trace, printed bytes
	used  int8   // by this attempt: matched by its parameters, or only by its place
}

const (
	usedExactly = 1 + iota
	usedByPlace
)

// Bounds of parts within parts, and of those that a call has run for nothing because it asked for others at its next
// attempt.
const (
	maxFrames = 8
	maxUnused = 16
)

// errApart ends an attempt so that a part can be run.
var errApart = storage.ErrAgain

// begin is the beginning of an attempt.
func (f *frame) begin() {
	f.asked, f.wanted, f.stray = 0, nil, false
	f.once.begin()
	for _, p := range f.parts {
		p.used = 0
	}
}

// Apart runs a part of the call in transactions of its own and returns what they gave, nil for those whose failure was
// tolerated. In a dry run, and in a transaction that is not the call's own, they are savepoints.
func (c *Ctx) Apart(in Part) ([]any, error) {
	if in.Items == nil {
		in.Items = []any{nil}
	}
	r := c.run
	if c.DryRun() || r == nil || r.frame == nil || c.Tx == nil || c.turn != nil {
		return c.here(&in)
	}
	f := r.frame
	step := *c // c may be used again for the next attempt
	p := &part{Part: in, ctx: &step, as: c.Tx.Principal(), repo: c.Tx.Repo(), vars: maps.Clone(c.Vars)}
	p.end, _ = c.Deadline()
	p.identify()
	done, err := f.find(p)
	switch {
	case err != nil:
		return nil, err
	case done != nil:
		return done.replay(c)
	case f.depth >= maxFrames:
		return nil, fault.Limit.Errorf("operation %s: more than %d new transactions within each other", in.Op, maxFrames)
	}
	p.spent = [3]int{r.ops, r.steps, r.printed}
	f.wanted = p
	return nil, errApart
}

// here runs a part in savepoints.
func (c *Ctx) here(p *Part) ([]any, error) {
	outs := make([]any, 0, len(p.Items))
	for _, item := range p.Items {
		sub := c.Sub(p.Isolate)
		ctx, cancel := p.within(c.Context)
		sub.Context = ctx
		var out any
		err := sub.Nest(func() (err error) {
			out, err = p.Run(sub, p.Input, item)
			return err
		})
		cancel()
		if err != nil && !p.tolerates(c, err) {
			return nil, err
		}
		outs = append(outs, out)
	}
	return outs, nil
}

func (p *Part) tolerates(c *Ctx, err error) bool {
	var x *exit
	return p.Tolerate != nil && !errors.As(err, &x) && p.Tolerate(c, err)
}

func (p *Part) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, p.Timeout)
}

// identify makes the keys by which a part is found again.
func (p *part) identify() {
	sum := func(name func(any) string) [sha256.Size]byte {
		h := sha256.New()
		fmt.Fprintf(h, "%s\n%s\n%d\n%s\n", p.Op, p.repo.Name(), len(p.Items), name(p.Input))
		for _, item := range p.Items {
			fmt.Fprintf(h, "%s\n", name(item))
		}
		fmt.Fprintf(h, "%s\n", name(p.Params))
		return [sha256.Size]byte(h.Sum(nil))
	}
	named := func(name func(*storage.Doc) string, other func(any) string) func(any) string {
		return func(v any) string {
			if d, ok := v.(*storage.Doc); ok && d != nil && d.Saved() {
				return name(d)
			}
			return other(v)
		}
	}
	p.ids, p.paths = sum(named((*storage.Doc).ID, wordOf)), sum(named((*storage.Doc).Path, wordOf))
	p.exact = sum(named((*storage.Doc).ID, summary))
}

// find returns the part that was run for what is asked now, nil if none was. Parameters may differ from those of the
// attempt before for no other reason than what the part itself has changed, or the time. Therefore a part that is about the
// same documents at the same position counts as the one that was run. If the one that it was taken for is asked for after
// all, other transactions have changed what the call asks for, and the next attempt goes by the parameters, too.
func (f *frame) find(p *part) (*part, error) {
	at := f.asked
	f.asked++
	unused := 0
	for _, q := range f.parts {
		switch {
		case q.exact == p.exact && q.used == 0:
			q.used = usedExactly
			return q, nil
		case q.exact == p.exact && q.used == usedByPlace && !f.exact:
			f.exact, f.stray = true, true
			return nil, errApart
		case q.used == 0:
			unused++
		}
	}
	if !f.exact && at < len(f.parts) {
		if q := f.parts[at]; q.used == 0 && (q.ids == p.ids || q.paths == p.paths) {
			q.used = usedByPlace
			return q, nil
		}
	}
	if unused > maxUnused {
		return nil, fault.Conflict.Errorf("operation %s: the call asks for other new transactions each time it begins again", p.Op).After(time.Second)
	}
	return nil, nil
}

// replay gives a step what its part gave when it was run.
func (p *part) replay(c *Ctx) ([]any, error) {
	r := c.run
	r.ops, r.steps, r.printed = r.ops+p.spent[0], r.steps+p.spent[1], r.printed+p.spent[2]
	for _, t := range p.taken {
		r.taken = append(r.taken, taken{t.batch, c.Tx})
	}
	if c.trace != nil {
		c.trace.Steps = append(c.trace.Steps, p.steps...)
	}
	if p.err != nil {
		return nil, p.err
	}
	if !p.Isolate {
		for name := range c.Vars {
			if _, ok := p.vars[name]; !ok {
				delete(c.Vars, name)
			}
		}
		for name, v := range c.current(p.vars) {
			c.SetVar(name, v)
		}
	}
	outs := make([]any, len(p.outs))
	for i, out := range p.outs {
		now, err := c.fresh(out)
		if err != nil {
			return nil, err
		}
		outs[i] = now
	}
	return outs, nil
}

// fresh reads a document again, or what is in a value.
func (c *Ctx) fresh(v any) (any, error) {
	if d, ok := v.(*storage.Doc); ok && d.Saved() {
		return c.Tx.Reload(d)
	}
	return c.again(v)
}

// current returns a copy of variables in which documents are as they are now. What has no document any longer is left out.
// Documents in lists stay as they were read: saving one of these changes nothing but the properties that were set.
func (c *Ctx) current(vars map[string]any) map[string]any {
	out := make(map[string]any, len(vars))
	for name, v := range vars {
		if d, ok := v.(*storage.Doc); ok && d != nil && d.Saved() {
			var err error
			if v, err = c.Tx.Reload(d); err != nil {
				continue
			}
		}
		out[name] = v
	}
	return out
}

// rounds has a transaction of the call begin again whenever an attempt was abandoned, and what it was abandoned for be run
// before.
func (r *running) rounds(f *frame, transact func() error) error {
	f.up, r.frame = r.frame, f
	defer func() { r.frame = f.up }()
	for {
		err := transact()
		if f.wanted == nil && !f.stray {
			return err
		}
		r.restarts++
		if p := f.wanted; p != nil {
			r.settle()
			r.runApart(p)
			f.parts = append(f.parts, p)
		}
	}
}

// abandoned is what an attempt returns: whatever has become of the error, an attempt that was abandoned does not end well.
func (f *frame) abandoned(err error) error {
	if f.wanted != nil || f.stray {
		return errApart
	}
	return err
}

// runApart runs a part. No transaction of the call is open meanwhile.
func (r *running) runApart(p *part) {
	before := p.spent
	p.ctx.Context = r.context()
	for _, item := range p.Items {
		out, err := r.apart(p, item)
		if err != nil && (r.end.Err() != nil || !p.tolerates(p.ctx, err)) {
			p.err = err
			break
		}
		p.outs = append(p.outs, out)
	}
	p.spent = [3]int{r.ops - before[0], r.steps - before[1], r.printed - before[2]}
}

// apart runs one transaction of a part, and what was to be done after its commit.
func (r *running) apart(p *part, item any) (out any, err error) {
	ctx := r.context()
	if !p.end.IsZero() { // a step around may have less time than the call; its own context has ended
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, p.end)
		defer cancel()
	}
	ctx, cancel := p.within(ctx)
	defer cancel()
	var vars map[string]any
	var leave *exit
	start := [3]int{r.ops, r.steps, r.printed}
	var log *Trace
	f := &frame{depth: r.frame.depth + 1}
	err = r.rounds(f, func() error {
		return p.repo.Update(ctx, p.as, func(tx *storage.Tx) error {
			f.begin()
			r.leave()
			r.after, r.taken, leave = nil, nil, nil
			r.ops, r.steps, r.printed = start[0], start[1], start[2]
			c := p.inside(ctx, tx)
			log = c.trace
			r.root = log
			var err error
			out, err = r.protected(func() (any, error) { return p.runIn(c, item) })
			vars = c.Vars
			if errors.As(err, &leave) && !leave.rollback {
				err = nil
			}
			return f.abandoned(err)
		})
	})
	r.settle()
	if log != nil {
		p.steps = append(p.steps, log.Steps...)
	}
	if err != nil {
		return nil, err
	}
	if p.taken = append(p.taken, r.taken...); !p.Isolate {
		p.vars = vars
	}
	up := r.frame
	r.frame = nil // what is done now has transactions that are not the call's
	r.runAfter(ctx)
	r.frame = up
	if leave != nil {
		return nil, leave
	}
	return out, nil
}

// context is that of the transactions of the call.
func (r *running) context() context.Context {
	if r.whole != nil {
		return r.whole
	}
	return &r.end
}

// inside makes the context of one attempt of a part.
func (p *part) inside(ctx context.Context, tx *storage.Tx) *Ctx {
	c := *p.ctx
	c.Context, c.Tx, c.As, c.Now, c.stacks, c.logins = ctx, tx, tx.Principal(), tx.Now(), nil, nil
	if c.trace != nil {
		c.trace = &Trace{Op: c.trace.Op, Start: time.Now()}
	}
	c.Vars = c.current(p.vars)
	return &c
}

// runIn runs the part once, on documents as they are in its transaction.
func (p *part) runIn(c *Ctx, item any) (any, error) {
	in, err := c.committed(p.Input)
	if err != nil {
		return nil, err
	}
	if item, err = c.committed(item); err != nil {
		return nil, err
	}
	return p.Run(c, in, item)
}

// committed reads again what a step of another transaction has read.
func (c *Ctx) committed(v any) (any, error) {
	now, err := c.fresh(v)
	if d, ok := v.(*storage.Doc); ok && fault.Is(err, fault.NotFound) {
		return nil, fault.NotFound.Errorf("document %s: is not there in a new transaction, which does not see what the call around it has made so far", d.Path()).In("input")
	}
	return now, err
}

// protected calls f and makes an error of a panic.
func (r *running) protected(f func() (any, error)) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, r.panicked(p)
		}
	}()
	return f()
}

// maxKept is how many bytes of the answers of others one transaction of a call keeps for its next attempt.
const maxKept = 32 << 20

// once are the effects that a transaction of a call has had outside, in all its attempts.
type once struct {
	done  map[[sha256.Size]byte][]effect
	asked map[[sha256.Size]byte]int // how often this attempt has come to each
	kept  int                       // bytes
}

// effect is what one of them gave.
type effect struct {
	out  any
	err  error
	lost bool // it was not kept
}

// Once has an effect outside that cannot be taken back, at most once for the transaction: a transaction that begins again,
// because it lost a race or a part of the call was run apart, gets what f returned the first time. What is a value that
// encodes as JSON and tells effects apart; the n-th of the same value is the same effect. f returns a value that nobody
// changes afterwards, and about how many bytes it has.
func (c *Ctx) Once(what any, f func() (out any, size int, err error)) (any, error) {
	if c.run == nil || c.run.frame == nil {
		out, _, err := f()
		return out, err
	}
	text, err := json.Marshal(what)
	if err != nil {
		return nil, fault.Invalid.Errorf("effect: %w", err)
	}
	key, o := sha256.Sum256(text), &c.run.frame.once
	if o.done == nil {
		o.done, o.asked = map[[sha256.Size]byte][]effect{}, map[[sha256.Size]byte]int{}
	}
	at := o.asked[key]
	o.asked[key]++
	if at < len(o.done[key]) {
		known := o.done[key][at]
		if known.lost {
			return nil, fault.Conflict.Errorf("the transaction begins again after a request to another service, whose answer was not kept; it is not sent twice")
		}
		return known.out, known.err
	}
	// Until f returns, nobody knows what came of the effect: this is also what is left if f panics.
	o.done[key] = append(o.done[key], effect{lost: true})
	out, size, err := f()
	if o.kept+size <= maxKept {
		o.kept += size
		o.done[key][at] = effect{out: out, err: err}
	}
	return out, err
}

// begin is the beginning of an attempt.
func (o *once) begin() { clear(o.asked) }
