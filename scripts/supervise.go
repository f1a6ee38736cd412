package scripts

import (
	"cmp"
	"context"
	"errors"
	"time"

	"catena/storage/fault"
)

// grace is how much longer than its time a run may take before its process is killed:
// long enough for the worker to say which line it was at.
const grace = 200 * time.Millisecond

// eager bounds what is sent of a document's properties before a script asks.
const (
	eagerDocument = 8 << 10
	eagerFrame    = 1 << 20
	maxHandles    = 200_000
)

// supervisor is the server's side of one run in a worker. It trusts nothing that comes
// from there: operations go through the same host, with the same checks, as in process.
type supervisor struct {
	p       *process
	host    host
	limits  *Limits
	job     job
	started time.Time
	line    int
	calls   int
	asked   int
	logged  int
	handles []any       // documents and files the worker knows, by number
	numbers map[any]int // and back
	scratch []byte      // for the properties of a document
	errs    []error     // of operations, so that they come out as they went in
}

// runInWorker runs a job for user in a worker process.
func (r *Runner) runInWorker(ctx context.Context, user string, h host, n *names, j job, in any, params map[string]any) (any, error) {
	if len(j.source) > r.limits.Source {
		return nil, located(breach(fault.CodeScriptSource, "script: source of %d bytes, at most %d allowed", len(j.source), r.limits.Source), j.file, 0, 0)
	}
	if err := prescan(j.source); err != nil {
		return nil, located(err, j.file, lineOf(err), 0)
	}
	p, err := r.pool.acquire(ctx, user)
	if err != nil {
		return nil, err
	}
	s := &supervisor{p: p, host: h, limits: &r.limits, job: j, started: time.Now(), numbers: map[any]int{}}
	out, clean, err := s.run(ctx, n, in, params)
	r.pool.release(p, user, clean)
	return out, err
}

func lineOf(err error) int {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Line
	}
	return 0
}

// run is the whole conversation. clean: the worker may serve again.
func (s *supervisor) run(ctx context.Context, n *names, in any, params map[string]any) (out any, clean bool, err error) {
	s.p.in.max = 4*s.limits.Output + 1<<20
	late := time.AfterFunc(s.limits.Wall+grace, s.p.Kill)
	defer late.Stop()
	stop := context.AfterFunc(ctx, s.p.Kill)
	defer stop()
	if err = s.start(n, in, params); err != nil {
		return nil, false, s.broken(ctx, err)
	}
	for {
		frame, err := s.p.in.next()
		if err != nil {
			return nil, false, s.broken(ctx, err)
		}
		r := &reader{b: frame, handles: s}
		switch r.byte() {
		case frameCall:
			err = s.call(r)
		case frameAsk:
			err = s.ask(r)
		case frameLog:
			err = s.log(r)
		case frameDone:
			return s.done(r)
		default:
			err = errWire
		}
		if err != nil {
			return nil, false, s.broken(ctx, err)
		}
	}
}

// broken turns the end of the conversation into an error with the last known line.
func (s *supervisor) broken(ctx context.Context, err error) error {
	var known *fault.Error
	var final finalError
	switch {
	case errors.As(err, &final):
		err = final.error
	case ctx.Err() != nil:
		err = cancelled(ctx)
	case time.Since(s.started) > s.limits.Wall:
		err = timeout(s.limits.Wall)
	case !errors.As(err, &known):
		err = s.p.death(s.limits)
	}
	return located(err, s.job.file, s.line, 0)
}

func (s *supervisor) start(n *names, in any, params map[string]any) error {
	w := &s.p.w
	w.handles = s
	w.start(frameStart)
	w.bool(s.p.names != n.hash)
	if s.p.names != n.hash {
		w.strings(n.all)
		s.p.names = n.hash
	}
	w.limits(s.limits)
	w.int(s.host.now().UnixMilli())
	w.bool(s.job.strict)
	w.bool(s.job.check)
	w.string(s.job.file)
	w.string(s.job.source)
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

// call runs an operation for the worker.
func (s *supervisor) call(r *reader) error {
	err := s.changes(r)
	op := r.string()
	s.line = int(r.int())
	in := r.value()
	params, _ := r.value().(map[string]any)
	if r.err != nil {
		return r.err
	}
	if s.calls++; s.calls > s.limits.Calls {
		return breach(fault.CodeScriptCalls, "script: more than %d calls", s.limits.Calls)
	}
	var v any
	if err == nil {
		v, err = s.host.call(op, in, params, s.line)
	}
	return s.answer(v, err)
}

func (s *supervisor) answer(v any, err error) error {
	w := &s.p.w
	w.start(frameAnswer)
	w.bool(err == nil)
	if err == nil {
		if err := w.value(v); err != nil {
			return err
		}
		return w.send(s.p.out)
	}
	var final finalError
	if errors.As(err, &final) {
		return final
	}
	s.errs = append(s.errs, err)
	w.failure(err, int64(len(s.errs)-1))
	return w.send(s.p.out)
}

// ask answers everything that is not an operation.
func (s *supervisor) ask(r *reader) error {
	changed := s.changes(r)
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
		return s.answer(f.text(min(limit, s.limits.Output)))
	}
	return s.askDocument(what, r)
}

// askDocument answers what is about one document.
func (s *supervisor) askDocument(what byte, r *reader) error {
	d, ok := s.handle(r).(document)
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
	var first error
	for range r.count() {
		d, ok := s.handle(r).(document)
		xpath, v := r.string(), r.value()
		if !ok || r.err != nil {
			r.fail()
			return r.err
		}
		if err := d.set(xpath, v); err != nil && first == nil {
			first = err
		}
	}
	for range r.count() {
		name, v := r.string(), r.value()
		if r.err != nil {
			return r.err
		}
		if err := s.host.setVariable(name, v); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (s *supervisor) log(r *reader) error {
	level, text := r.string(), r.string()
	if r.err != nil {
		return r.err
	}
	if s.logged += len(text); s.logged > s.limits.Log+256 {
		return breach(fault.CodeScriptOutput, "script: more than %d bytes of console output", s.limits.Log)
	}
	s.host.log(level, text)
	return nil
}

// done reads how the run ended.
func (s *supervisor) done(r *reader) (any, bool, error) {
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
	stack := make([]Frame, r.count())
	for i := range stack {
		stack[i] = Frame{Function: r.string(), File: file, Line: int(r.int()), Column: int(r.int())}
	}
	if r.err != nil {
		return nil, false, r.err
	}
	clean := !retire && e.fault.Kind != fault.Limit && e.fault.Code != fault.CodeScriptCrash
	return nil, clean, located(s.original(e), cmp.Or(file, s.job.file), line, column, stack...)
}

// original returns the server's own error when the worker only passed it on.
func (s *supervisor) original(e *remoteError) error {
	if e.ref >= 0 && e.ref < int64(len(s.errs)) {
		first := s.errs[e.ref]
		if clip(first.Error(), 16<<10) == e.fault.Message {
			return first
		}
		_, _, field := describe(first)
		return &fault.Error{Kind: fault.Of(first), Code: fault.CodeOf(first), Field: field, Message: e.fault.Message, Err: first}
	}
	if e.fault.Kind == fault.Internal {
		e.fault.Kind = fault.Invalid
	}
	return e.fault
}

func (s *supervisor) handle(r *reader) any {
	n := r.uint()
	if n >= uint64(len(s.handles)) {
		r.fail()
		return nil
	}
	return s.handles[n]
}

func (s *supervisor) readDocument(r *reader) any {
	d, ok := s.handle(r).(document)
	if !ok {
		r.fail()
		return nil
	}
	return d
}

func (s *supervisor) readFile(r *reader) any {
	f, ok := s.handle(r).(file)
	if !ok {
		r.fail()
		return nil
	}
	return f
}

// number returns the number of a handle, a new one for a new handle.
func (s *supervisor) number(key, v any) (uint64, error) {
	n, ok := s.numbers[key]
	if !ok {
		if n = len(s.handles); n >= maxHandles {
			return 0, breach(fault.CodeScriptMemory, "script: more than %d documents and files", maxHandles)
		}
		s.numbers[key] = n
		s.handles = append(s.handles, v)
	}
	return uint64(n), nil
}

// write sends a document with its fields and, when they are few, its properties; a
// file with what is said about it.
func (s *supervisor) write(w *writer, v any) error {
	switch v := v.(type) {
	case document:
		n, err := s.number(v.key(), v)
		if err != nil {
			return err
		}
		w.byte(tagDocument)
		w.uint(n)
		w.uint(uint64(len(fields)))
		for i := range fields {
			x, err := v.field(i)
			if err != nil {
				return err
			}
			if err := w.nested(x, 2); err != nil {
				return err
			}
		}
		var raw []byte
		if len(w.b) < eagerFrame {
			if raw, err = v.json(s.scratch[:0]); err != nil || len(raw) > eagerDocument {
				raw = nil
			} else {
				s.scratch = raw
			}
		}
		w.bytes(raw)
		return nil
	case file:
		n, err := s.number(v.key(), v)
		if err != nil {
			return err
		}
		i := v.info()
		w.byte(tagFile)
		w.uint(n)
		w.string(i.name)
		w.string(i.typ)
		w.string(i.encoding)
		w.string(i.digest)
		w.int(i.size)
		return nil
	}
	return fault.Internal.Errorf("script: a %T cannot cross", v)
}
