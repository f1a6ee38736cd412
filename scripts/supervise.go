package scripts

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// grace is how much longer than its time a run may take before its process is killed:
// long enough for the worker to say which line it was at.
const grace = 200 * time.Millisecond

// eager bounds what is sent of a document's properties before a script asks.
const (
	eagerDocument = 8 << 10
	eagerFrame    = 1 << 20
	// maxHandles bounds the documents and files that one run knows. The server keeps each until the run ends,
	// since the script may come back to any of them.
	maxHandles = 200_000
	// mostKept is how many parameters a map has at most that is used for several calls.
	mostKept = 100
)

// supervisor is the server's side of one run in a worker. It trusts nothing that comes from there: what may
// be called, and with what, is checked here. It lives in the goroutine of the caller, whose transaction the
// calls of the script share, and needs no locks.
type supervisor struct {
	p       *process
	host    recorder
	limits  *Limits
	job     job
	names   *names
	turn    *turn
	line    int
	calls   int
	asked   int
	logged  int
	handles []any              // documents and files the worker knows, by number
	numbers map[any]int        // and back
	params  map[string]any     // of the call that goes on
	r       reader             // of the frame that is being read
	ahead   []engine.StepTrace // what is recorded of answers that the worker has been sent ahead
	vain    int                // answers sent ahead that it did not take
	taken   uint32             // how many such answers it had taken before
	errs    []error            // of operations, so that they come out as they went in
	failed  error              // of a call that the worker did not wait for: the end of the run
	late    *time.Timer        // kills the worker
}

// runInWorker runs a job in a worker process. The supervisor is new and has its turn, host, names and job.
func (r *Runner) runInWorker(ctx context.Context, s *supervisor, in any, params map[string]any) (any, error) {
	// Checked before a worker is taken, which others may be waiting for.
	if size := s.job.size(); size > r.limits.Source {
		return nil, located(breach(fault.CodeScriptSource, "script: source of %d bytes, at most %d are allowed", size, r.limits.Source), s.job.file, 0, 0)
	}
	var err error
	if s.p, err = r.pool.take(s.job.owner); err != nil {
		return nil, err
	}
	s.limits, s.numbers = &r.limits, map[any]int{}
	s.settle() // a worker goes on counting
	out, clean, err := s.run(ctx, in, params)
	r.pool.give(s.p, clean)
	return out, err
}

// run is the whole conversation. clean: the worker may serve again. Any error of the conversation itself ends
// the process: what the worker believes is no longer known.
func (s *supervisor) run(ctx context.Context, in any, params map[string]any) (out any, clean bool, err error) {
	// A frame holds at most one value of the permitted size, in an encoding that can be longer than the
	// value.
	s.p.in.max = 4*s.limits.Output + 1<<20
	// The worker watches its own time, and reports the line when it is exceeded. Killing is for one that does
	// not.
	s.late = time.AfterFunc(s.turn.wall+grace, s.p.Kill)
	defer s.late.Stop()
	stop := context.AfterFunc(ctx, s.p.Kill)
	defer stop()
	if err = s.start(s.names, in, params); err != nil {
		return nil, false, s.broken(ctx, err)
	}
	for {
		frame, err := s.p.in.next()
		if err != nil {
			return nil, false, s.broken(ctx, err)
		}
		s.r = reader{b: frame, handles: s, keys: s.p.keys}
		r := &s.r
		switch r.byte() {
		case frameCall:
			err = s.call(r)
		case frameSend:
			// After a failure, further calls that the script has not waited for must not take effect: the
			// script would not have made them if it had known.
			if s.failed == nil {
				err = s.sent(r)
			}
		case frameAsk:
			err = s.ask(r)
		case frameLog:
			err = s.log(r)
		case frameDone:
			out, clean, err := s.done(r)
			if s.failed != nil {
				return nil, clean, s.failed
			}
			return out, clean, err
		default:
			err = errWire
		}
		if err != nil {
			return nil, false, s.broken(ctx, err)
		}
	}
}

// broken turns the end of the conversation into an error with the last known line. Cases come in the order of
// certainty: a failure that the server recorded itself, the end of the call, the time, and only then what the
// death of the process suggests.
func (s *supervisor) broken(ctx context.Context, err error) error {
	s.settle()
	var known *fault.Error
	var final finalError
	switch {
	case s.failed != nil:
		return s.failed
	// A final error must end the whole call, whatever the script does about it.
	case errors.As(err, &final):
		err = final.error
	case ctx.Err() != nil:
		err = cancelled(ctx)
	case time.Now().After(s.turn.end):
		err = timeout(s.turn.wall)
	// The pipe has ended without a message: the operating system has killed the process, and the way it ended
	// says why.
	case !errors.As(err, &known):
		err = s.p.death(s.limits)
	}
	return located(err, s.job.file, s.line, 0)
}

// start sends the job to the worker. Names of operations are sent only if the worker has not received the same ones before, as there are
// hundreds; the source is sent only if the worker asks for it by its key.
func (s *supervisor) start(n *names, in any, params map[string]any) error {
	w := &s.p.w
	w.handles = s
	w.start(frameStart)
	w.bool(s.p.names != n.hash)
	// A worker keeps the names between runs; they change only when something is deployed.
	if s.p.names != n.hash {
		w.strings(n.all)
		w.strings(slices.Sorted(maps.Keys(n.reads)))
		s.p.names = n.hash
	}
	s.p.runs++
	w.uint(uint64(s.p.runs))
	limits := *s.limits
	// A script that another script has called has what is left of its caller's time.
	limits.Wall = s.turn.wall
	w.limits(&limits)
	w.int(s.host.now().UnixMilli())
	w.bool(s.job.strict)
	w.bool(s.job.check)
	w.bool(s.job.module)
	w.string(s.job.file)
	w.bytes(s.job.key[:])
	if err := w.value(in); err != nil {
		return err
	}
	var p any
	if params != nil {
		p = params
	}
	if err := w.value(p); err != nil {
		return err
	}
	return w.send(s.p.out)
}

// call runs an operation for the worker, then those that it has announced. A failed change of a document is
// the result of the call, which then is not made.
func (s *supervisor) call(r *reader) error {
	s.settle()
	// Changes that the script made to documents come first: the operation has to see them.
	err := s.changes(r)
	op := s.name(r)
	s.line = int(r.int())
	in := r.value()
	params := s.parameters(r)
	next := r.announced()
	if r.err != nil {
		return r.err
	}
	if err := s.count(); err != nil {
		return err
	}
	if s.failed != nil {
		return s.answer(nil, s.failed)
	}
	// The parameters are copied before the call, which may change them.
	next.of(op, in, params)
	var v any
	if err == nil {
		v, err = s.host.call(op, in, params, s.line)
	}
	if err := s.answer(v, err); err != nil || len(next.texts) == 0 {
		return err
	}
	return s.lookAhead(next)
}

// parameters reads the parameters of a call into the map that those before were in: nobody keeps it.
func (s *supervisor) parameters(r *reader) map[string]any {
	if len(r.b) == 0 || r.b[0] != tagMap {
		params, _ := r.value().(map[string]any)
		return params
	}
	r.byte()
	n := r.some()
	if s.params == nil || n > mostKept {
		s.params = make(map[string]any, n)
	}
	clear(s.params)
	r.fill(s.params, n, 0)
	return s.params
}

// name reads the name of an operation. Names that the set knows are not copied from the frame.
func (s *supervisor) name(r *reader) string {
	b := r.bytes()
	if s.names != nil {
		if name, ok := s.names.same[string(b)]; ok {
			return name
		}
	}
	return string(b)
}

// count bounds the calls of one run (Limits.Calls), whatever they do: each costs the server far more than it
// costs the script.
func (s *supervisor) count() error {
	if s.calls++; s.calls > s.limits.Calls {
		return breach(fault.CodeScriptCalls, "script: more than %d calls", s.limits.Calls)
	}
	return nil
}

// sent runs an operation whose result the worker does not wait for. If it fails, the run has failed.
func (s *supervisor) sent(r *reader) error {
	err := s.changes(r)
	op := s.name(r)
	sized := r.sized()
	in := r.value()
	params := s.parameters(r)
	if r.err != nil {
		return r.err
	}
	at := reader{b: sized}
	if at.count() > 0 {
		at.bytes()
		s.line = int(at.int())
	}
	if err := s.count(); err != nil {
		return err
	}
	if err == nil {
		_, err = s.host.call(op, in, params, s.line)
	}
	var final finalError
	if err == nil || errors.As(err, &final) {
		return err
	}
	at = reader{b: sized}
	stack, column := at.frames(s.job.file), 0
	if len(stack) > 0 {
		column = stack[0].Column
	}
	s.failed = located(err, s.job.file, s.line, column, stack...)
	// The worker looks at this number in shared memory, so that it stops even if it never asks anything
	// again.
	if s.p.link != nil {
		s.p.link.own.stopped.Store(s.p.runs)
	}
	// The run has failed already, so the script only gets the time to stop by itself.
	s.late.Reset(grace)
	return nil
}

func (s *supervisor) answer(v any, err error) error {
	w := &s.p.w
	w.start(frameAnswer)
	if err := s.result(w, v, err); err != nil {
		return err
	}
	return w.send(s.p.out)
}

// result writes what came out of a call.
func (s *supervisor) result(w *writer, v any, err error) error {
	w.bool(err == nil)
	if err == nil {
		return w.value(v)
	}
	var final finalError
	if errors.As(err, &final) {
		return final
	}
	// The script gets a number for the error. If it throws it again, the original comes out, with its kind,
	// code and cause.
	s.errs = append(s.errs, err)
	w.failure(err, int64(len(s.errs)-1))
	return nil
}

// ask answers everything that is not an operation.
func (s *supervisor) ask(r *reader) error {
	changed := s.changes(r)
	if s.failed != nil {
		changed = s.failed
	}
	// Questions are cheaper than calls, and a script asks several for each call; the bound only stops endless
	// loops.
	if s.asked++; s.asked > 20*s.limits.Calls {
		return breach(fault.CodeScriptCalls, "script: more than %d questions", 20*s.limits.Calls)
	}
	what := r.byte()
	if changed != nil {
		return s.answer(nil, changed)
	}
	switch what {
	case askNothing:
		return s.answer(nil, nil)
	case askSource:
		return s.answer(s.job.text(), nil)
	case askHelper:
		name := r.string()
		args, _ := r.value().([]any)
		if r.err != nil {
			return r.err
		}
		return s.answer(s.host.helper(name, args))
	case askUser:
		u, err := s.host.user()
		return s.answer(u, err)
	case askVariables:
		return s.answer(s.variables())
	case askText:
		f, ok := s.handle(r).(file)
		limit := int(r.int())
		if r.err != nil || !ok {
			return errWire
		}
		// The worker's bound is not believed beyond the server's own.
		return s.answer(f.text(min(limit, s.limits.Output)))
	}
	return s.askDocument(what, r)
}

// askDocument answers what is about one document.
func (s *supervisor) askDocument(what byte, r *reader) error {
	d, ok := s.handle(r).(served)
	if !ok {
		return errWire
	}
	switch what {
	case askDocument:
		return s.answer(d, nil)
	case askJSON:
		raw, err := d.json(nil)
		return s.answer(string(raw), err)
	case askProperty:
		xpath := r.string()
		if r.err != nil {
			return r.err
		}
		return s.answer(d.get(xpath))
	}
	return errWire
}

func (s *supervisor) variables() (any, error) {
	names, err := s.host.variables()
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(names))
	for _, n := range names {
		if v, found, err := s.host.variable(n); err != nil {
			return nil, err
		} else if found {
			out[n] = v
		}
	}
	return out, nil
}

// changes applies what the script set since the last question. The first refusal is
// the answer to the question.
func (s *supervisor) changes(r *reader) error {
	first := s.failed
	for range r.count() {
		d, ok := s.handle(r).(served)
		xpath, v := r.string(), r.value()
		if !ok || r.err != nil {
			r.fail()
			return r.err
		}
		if first == nil {
			first = d.set(xpath, v)
		}
	}
	for range r.count() {
		name, v := r.string(), r.value()
		if r.err != nil {
			return r.err
		}
		if first == nil {
			first = s.host.setVariable(name, v)
		}
	}
	return first
}

func (s *supervisor) log(r *reader) error {
	level, text := r.string(), r.string()
	if r.err != nil || s.failed != nil {
		return r.err
	}
	if s.logged += len(text); s.logged > s.limits.Log+256 {
		return breach(fault.CodeScriptOutput, "script: more than %d bytes of console output", s.limits.Log)
	}
	s.host.log(level, text)
	return nil
}

// done reads how the run ended. A worker may serve again only if it said so and the run ended normally; see
// clean in run.
func (s *supervisor) done(r *reader) (any, bool, error) {
	s.settle()
	refused := s.changes(r)
	retire := r.bool()
	if r.bool() {
		v := r.value()
		if r.err != nil {
			return nil, false, r.err
		}
		if refused != nil {
			return nil, !retire, located(refused, s.job.file, s.line, 0)
		}
		return v, !retire, nil
	}
	e := r.failure()
	file, line, column := r.string(), int(r.int()), int(r.int())
	stack := r.frames(file)
	if r.err != nil {
		return nil, false, r.err
	}
	// After a limit or a crash, the memory of the process is in an unknown state.
	clean := !retire && e.fault.Kind != fault.Limit && e.fault.Code != fault.CodeScriptCrash
	return nil, clean, located(s.original(e), cmp.Or(file, s.job.file), line, column, stack...)
}

// original returns the server's own error when the worker only passed it on.
func (s *supervisor) original(e *remoteError) error {
	if e.ref >= 0 && e.ref < int64(len(s.errs)) {
		first := s.errs[e.ref]
		// A script may have changed the message of the error before it threw it again.
		if clip(first.Error(), 16<<10) == e.fault.Message {
			return first
		}
		_, _, field := describe(first)
		return &fault.Error{Kind: fault.Of(first), Code: fault.CodeOf(first), Field: field, Message: e.fault.Message, Err: first}
	}
	// A worker must not report faults of the server: those are logged and hidden from the caller.
	if e.fault.Kind == fault.Internal {
		e.fault.Kind = fault.Invalid
	}
	return e.fault
}
