package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/trace"
)

// Call says what to run, for whom and how.
type Call struct {
	Op      string
	Version int64          // of the text that Op is made of; 0: the deployed one, others are for administrators
	Input   any            // a value, or Lazy
	Expect  string         // document that will probably be read first; "" if that is not known. It changes no result
	Params  map[string]any // by name, or
	// Params and RawParams are alternatives: the raw form is decoded straight into the struct of the
	// operation, without a map in between.
	RawParams     json.RawMessage // a JSON object
	Vars          map[string]any  // context variables; they may be Lazy
	As            *storage.Principal
	For           storage.Owned // whom the server's own work is done for, who sees its run; the zero value: As
	EntryPoint    EntryPoint
	DryRun, Trace bool
	Timeout       time.Duration // 0: the engine's; it can only be lowered
	MaxStale      time.Duration // how old what the call reads may be, if it only reads; 0: it reads the latest
	// A caller that repeats a request after a lost answer sends the same key. The fingerprint covers what the
	// request says, so that a key that is used again for something else is refused instead of answered with
	// the wrong result.
	IdempotencyKey string // a call made before with this key and Fingerprint is not made again
	KeyScope       string // what the key counts for, as an address: elsewhere it is another key
	Fingerprint    string
	// The answer is encoded inside the transaction, since encoding reads documents: what it shows is what was
	// committed.
	Encode func(*Ctx, any) ([]byte, error) // makes the answer's bytes, inside the transaction
	Quotes bool                            // Encode takes long texts as JSON (Ctx.Quoted)
	// Ended is told the result in the transaction of a call that writes and is about to be committed: what it writes is
	// there if and only if the effect of the call is. Of other calls only who waits for them knows the end.
	Ended       func(*Ctx, *Result) error
	RequestID   string
	Remote      netip.Addr // of the client; the zero value if there is none
	Device      string     // computer that the client says it runs on, "" if it does not say
	KeepUploads bool       // batches that files are taken from stay
	Asked       *Asked     // what a caller from outside sent: if the call fails, it is kept; nil: it is not
}

// Result is what a call returned.
type Result struct {
	Value    any
	Input    any // as it was found
	Body     []byte
	Trace    *Trace
	Changes  []storage.Change // of a dry run
	Replayed bool             // the answer of an earlier call with the same idempotency key
	Attempts int
	Age      time.Duration // of what a replica showed, at most; 0: it is the latest
	Void     bool          // the operation returned nothing
	Told     bool          // to Ended, in what was committed
	Ignored  []string      // names of parameters given in JSON that the operation does not have or does not use
}

// running is a call being carried out. Its fields are in two groups by lifetime: those of the call, which
// prepare sets, and those of an attempt (ctx, res, after, taken, ops, root, steps, exit), which attempt
// clears before it runs again. A new field of the second group has to be cleared there, or a rerun sees what
// the lost attempt left.
type running struct {
	e         *Engine
	set       *Set
	def       *Def
	call      *Call
	args      Call               // what call points at
	as        *storage.Principal // who calls, as of the transaction
	began     time.Time
	limit     time.Duration
	end       deadline
	whole     *deadline // of the transaction around, if that is not the call's own
	ctx       *Ctx      // of the attempt
	first     Ctx       // of the first one
	res       Result
	after     []func(context.Context) error
	taken     []taken
	ops       int
	root      *Trace
	spare     []Trace          // room for more of it
	slab      *[stepRoom]Trace // where that begins, if it is used again
	steps     int              // of the trace
	printed   int              // bytes in it that scripts printed
	traced    trace.Trace      // what the call belongs to, once it was asked for
	hidden    []string         // secrets that the call was given, which what is kept of it must not show
	exit      bool
	told      func(*Span)      // is called with how it ended; nil: nobody wants to know
	recording bool             // it is recorded if it goes well
	bare      bool             // root is for told only: it has no values, and nobody else sees it
	detached  bool             // nobody waits for its end
	attemptID string           // of the attempt, once something is kept that undoes it
	undoable  int              // steps of the attempt of which that is kept
	left      []string         // attempts that have ended and may have left something to be undone
	found     storage.Findings // what all its transactions have found out while none was open
	outer     frame            // the transaction of the call itself
	frame     *frame           // the innermost transaction; nil: it is not the call's
	restarts  int              // attempts that began again because something was run outside of them
	inner     *Plan
	fn        func(c *Ctx) (any, error) // is run in place of an operation
	top       bool                      // the next operation is the one called

	number       uint64 // among the calls of the server
	moment       int64  // when it began, in milliseconds, for its id
	before, next *running
}

// Run carries out a call in one transaction. After a lost race the whole call runs again.
func (e *Engine) Run(ctx context.Context, call Call) (*Result, error) {
	r, err := e.prepare(ctx, call)
	if err != nil {
		return nil, err
	}
	r.begin(ctx)
	return r.carryOut()
}

// prepare finds the operation of a call.
func (e *Engine) prepare(ctx context.Context, call Call) (*running, error) {
	set := e.set.Load()
	d, ok := set.Op(call.Op)
	// An operation that the caller may not call looks like one that does not exist, so that names of
	// operations tell nothing.
	if !ok || call.As != nil && !d.Callers.allows(call.As, call.EntryPoint) {
		return nil, set.Missing(call.Op, call.As, call.EntryPoint)
	}
	if call.Version != 0 && call.Version != d.Version {
		var err error
		if set, d, err = e.older(ctx, set, d, call.As, call.Version); err != nil {
			return nil, err
		}
	}
	// A running comes from a pool because it is the largest allocation of a short call, and Ctx is part of
	// it.
	r := idle.Get().(*running)
	r.e, r.set, r.def, r.args = e, set, d, call
	return r, nil
}

// RunPlan carries out a plan as Run does an operation; the call's Op is only a name for it.
func (e *Engine) RunPlan(ctx context.Context, p *Plan, call Call) (*Result, error) {
	r := idle.Get().(*running)
	r.e, r.set, r.def, r.args, r.inner = e, p.set, p.def, call, p
	r.begin(ctx)
	return r.carryOut()
}

// carryOut carries out a call that has begun.
func (r *running) carryOut() (*Result, error) {
	if err := r.perform(); err != nil {
		return nil, err
	}
	return r.result(), nil
}

// perform carries out the call; nothing of it goes on afterwards.
func (r *running) perform() (err error) {
	defer func() { r.finish(err) }()
	e, call := r.e, r.call
	switch {
	case call.As == nil:
		return fault.Denied.Errorf("nobody is signed in").WithCode(fault.CodeNotSignedIn)
	// The store would refuse the first write as well. Refusing here names the operation, and refuses calls
	// that happen to write nothing this time.
	case call.As.ReadOnly && r.def.Effect == Writes:
		return fault.Denied.Errorf("operation %s writes, but the key is read-only", r.def.Name).WithCode(fault.CodeInsufficientScope)
	}
	// The claim is held in memory for the time of the call: a repetition that arrives meanwhile is refused at
	// once instead of waiting for a conflict at the commit.
	if r.keyed() {
		release, err := e.claim(call)
		if err != nil {
			return err
		}
		defer release()
	}
	r.recording = r.records()
	err = r.transact()
	r.settle()
	e.count(r.res.Attempts, err)
	if err != nil {
		// The reason comes first: a call that somebody ended fails with whatever error its current read
		// returned.
		err = r.explained(r.reason(err))
		r.hideAsked()
		e.traceFailure(r, err)
		e.keepFailure(r, err)
		return err
	}
	// After a dry run or a rollback nothing was committed, so nothing that waits for a commit happens.
	if !call.DryRun && !r.exit {
		r.runAfter(r.end.Context)
	}
	e.traceDone(r)
	r.record()
	return nil
}

// explained names the documents whose damaged content an error is about, if that caused it.
func (r *running) explained(err error) error {
	ctx := context.WithoutCancel(r.end.Context)
	var op *Error
	if errors.As(err, &op) {
		op.Err = r.e.Explain(ctx, r.call.As, op.Err)
		return err
	}
	return r.e.Explain(ctx, r.call.As, err)
}

// transact opens what the operation needs and attempts the call in it.
func (r *running) transact() error {
	repo, call := r.e.repo, r.call
	attempt := func(tx *storage.Tx) error {
		if r.res.Attempts++; storage.Again(tx) {
			r.restarts++
		}
		r.leave()
		r.outer.begin()
		err := r.outer.abandoned(r.attempt(tx))
		// An error is the one way to have Update discard what was written; transact turns it back into
		// success.
		if err == nil && (call.DryRun || r.exit) {
			return errRollback
		}
		return err
	}
	ctx := context.Context(&r.end)
	if repo != nil {
		ctx = repo.Expecting(ctx, call.expected())
	}
	var err error
	switch {
	case r.def.Effect == Writes:
		err = r.rounds(&r.outer, func() error { return repo.Update(ctx, call.As, attempt) })
		r.res.Attempts -= r.restarts
	// Pure operations run without a transaction, which is most of their cost, unless their input has to be
	// read first.
	case r.def.Effect == Reads || r.needsStore():
		err = r.view(ctx, attempt)
	default:
		r.res.Attempts = 1
		err = r.attempt(nil)
	}
	switch {
	case errors.Is(err, errRollback):
		return nil
	case r.res.Attempts == 0 && errors.Is(err, storage.ErrEnded):
		return NotBegun{err}
	}
	return err
}

// NotBegun is the error of a call of which nothing was carried out, since what its caller signed in by has ended.
type NotBegun struct{ error }

// Unwrap returns why.
func (e NotBegun) Unwrap() error { return e.error }

// expected is the document that will probably be read first.
func (c *Call) expected() storage.Ref {
	switch in := c.Input.(type) {
	case string:
		return cmp.Or(storage.Ref(c.Expect), storage.Ref(in))
	case storage.Ref:
		return cmp.Or(storage.Ref(c.Expect), in)
	}
	return storage.Ref(c.Expect)
}

var errRollback = errors.New("rolled back as requested")

// needsStore reports whether a pure operation is called with something to be found in the store.
func (r *running) needsStore() bool {
	if r.e.repo == nil {
		return false
	}
	switch r.call.Input.(type) {
	case Lazy, func(*Ctx) (any, error):
		return true
	}
	for _, v := range r.call.Vars {
		if _, lazy := v.(Lazy); lazy {
			return true
		}
	}
	// A reference that the operation wants as a document is read from the store; fit 2 stands for such a
	// conversion.
	k := kindOf(r.call.Input)
	v := r.def.by[k]
	return v != nil && v.in != k && v.in != kVoid && v.in != kAny && fit(k, v.in) == 2
}

// attempt makes one attempt, with nothing left of the one before.
func (r *running) attempt(tx *storage.Tx) (err error) {
	call := r.call
	r.ctx = &r.first
	// This is a rerun after a lost race: everything that the attempt before has left is from a state that
	// never was.
	if r.res.Attempts > 1 {
		r.after, r.taken, r.ops, r.root, r.steps, r.printed, r.exit, r.res.Ignored = nil, nil, 0, nil, 0, 0, false, nil
		// The attempt before may have left goroutines that still ask its context for its end, as those of the
		// standard library do that wait for contexts derived from it.
		r.ctx = new(Ctx)
	}
	c := r.ctx
	r.res.Told = false
	if r.as = call.As; tx != nil {
		r.as = tx.Principal()
	}
	// The transaction looked up again what the caller may do. A group that was left since the request came in
	// must not let the call pass because prepare saw the old one.
	if r.as != call.As && r.inner == nil && !r.def.Callers.allows(r.as, call.EntryPoint) {
		return r.set.Missing(call.Op, r.as, call.EntryPoint)
	}
	c.Context, c.Tx, c.As, c.Log, c.EntryPoint, c.run = &r.end, tx, r.as, r.e.log, call.EntryPoint, r
	if c.EntryPoint == 0 {
		c.EntryPoint = Server
	}
	switch {
	case tx != nil:
		c.Now = tx.Now()
	// Stored dates have milliseconds, so the instant of a call has no finer part that a comparison could trip
	// over.
	case r.e.clock == nil:
		c.Now = time.UnixMilli(r.began.UnixMilli()).UTC()
	default:
		c.Now = r.e.clock().UTC().Truncate(time.Millisecond)
	}
	if call.DryRun && tx != nil && tx.Writable() {
		storage.RecordChanges(tx)
	}
	c.Vars = nil
	r.beginTrace()
	c.trace = r.root
	// A bug in one operation must fail one call, not the server. The transaction is discarded like after any
	// error.
	defer func() {
		if p := recover(); p != nil {
			err = r.panicked(p)
		}
	}()
	if tx != nil && r.keyed() {
		if done, err := r.replay(tx); done || err != nil {
			return err
		}
	}
	out, err := r.invoke(c)
	if err != nil {
		return err
	}
	return r.conclude(c, out)
}

// invoke finds the input and the variables and runs the operation.
func (r *running) invoke(c *Ctx) (any, error) {
	in, err := c.resolve(r.call)
	if err != nil {
		return nil, r.def.failed(StageInput, err)
	}
	r.res.Input = in
	var out any
	switch {
	case r.fn != nil:
		out, err = r.fn(c)
	case r.inner != nil:
		out, err = r.inner.Run(c, in)
	default:
		r.top = true
		out, err = c.invoke(r.def, in, r.call.Params, r.call.RawParams)
	}
	// Logins end before the result is encoded: what the caller is shown is read with the caller's own rights.
	c.restore(0)
	if err != nil {
		var x *exit
		if !errors.As(err, &x) {
			return nil, err
		}
		out, r.exit = x.out, x.rollback
	}
	return out, nil
}

// resolve finds what the call left to be found inside the transaction.
func (c *Ctx) resolve(call *Call) (any, error) {
	if len(call.Vars) == 0 {
		return c.found(call.Input)
	}
	for name, v := range call.Vars {
		// Expressions read the parameters of the chain under this name; a variable of that name would hide
		// them.
		if name == "ChainParameters" {
			return nil, fault.Invalid.Errorf("variable ChainParameters is reserved").In(name)
		}
		found, err := c.found(v)
		if err != nil {
			return nil, err
		}
		c.SetVar(name, found)
	}
	return c.found(call.Input)
}

func (c *Ctx) found(v any) (any, error) {
	switch lazy := v.(type) {
	case Lazy:
		return lazy(c)
	case func(*Ctx) (any, error):
		return lazy(c)
	}
	return v, nil
}

// conclude takes the result in, encodes it, and keeps it for its idempotency key.
func (r *running) conclude(c *Ctx, out any) error {
	call := r.call
	r.res.Value, r.res.Void, r.res.Body = out, out == nil, nil
	if call.Encode != nil {
		// Whatever identity the operation ended with, the answer is encoded for the caller.
		c.As, c.Input = r.as, out
		body, err := call.Encode(c, out)
		if err != nil {
			return err
		}
		r.res.Body = body
	}
	if err := r.dropTaken(c.Tx); err != nil {
		return err
	}
	if call.DryRun && c.Tx != nil {
		r.res.Changes = storage.Changes(c.Tx)
		return nil
	}
	// The stored answer is a row of the same transaction: either both the effect and the answer are there, or
	// neither is.
	if c.Tx != nil && r.keyed() && !r.exit {
		if err := r.keep(c.Tx); err != nil {
			return err
		}
	}
	if call.Ended != nil && c.Tx != nil && c.Tx.Writable() && !r.exit {
		r.res.Told = true
		return call.Ended(c, &r.res)
	}
	return nil
}

// panicked makes an error of a panic; the stack goes to the log.
func (r *running) panicked(p any) error {
	r.e.log.LogAttrs(r.end.Context, slog.LevelError, "operation panicked", slog.String("operation", r.def.Name),
		slog.String("request", r.call.RequestID), slog.String("traceId", r.distributed().ID), slog.String("panic", fmt.Sprint(p)), slog.String("stack", string(debug.Stack())))
	return r.def.failed(StageRun, fault.Internal.Errorf("panic: %v", p))
}

// runAfter does what was to be done once the call is committed.
func (r *running) runAfter(ctx context.Context) {
	if len(r.after) == 0 {
		return
	}
	// The commit has happened, so what depends on it has to be done even if the client has gone meanwhile.
	ctx = trace.With(context.WithoutCancel(ctx), r.distributed())
	for _, f := range r.after {
		func() {
			defer func() {
				if p := recover(); p != nil {
					_ = r.panicked(p)
				}
			}()
			report(r.e.log, f(ctx))
		}()
	}
}
