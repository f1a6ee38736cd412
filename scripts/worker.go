package scripts

import (
	"context"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/dlclark/regexp2/v2"

	"catena/storage/fault"
	"catena/storage/worker"
)

// maxReuse is how much heap a worker may hold after a run and still be used again.
const maxReuse = 48 << 20

// WorkerMain is a worker process: it runs the scripts that come in one after the other
// until the input ends. The server calls it before anything else when it is started as
// a worker; the result is the exit code.
func WorkerMain(in io.Reader, out io.Writer) int {
	isWorker = true
	// A match that does not end is ended with the process, so that no script reads a
	// timeout as "no match".
	regexp2.DefaultMatchTimeout = time.Duration(math.MaxInt64)
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(64 << 20)
	debug.SetGCPercent(400)
	if mem := inheritedShare(); mem != nil {
		l := newLink(mem, false, in, nopCloser{out})
		in, out = l, l
	}
	if err := worker.Confine(dataLimit); err != nil {
		_, _ = io.WriteString(os.Stderr, "worker: "+err.Error()+"\n")
		return 1
	}
	w := &serving{in: &frames{in: in, max: maxFrame}, out: out, programs: newPrograms(4 << 20)}
	for {
		frame, err := w.in.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0
			}
			return 1
		}
		if err := w.serve(frame); err != nil {
			return 1
		}
	}
}

type nopCloser struct{ io.Writer }

// Close does nothing: the process ends instead.
func (nopCloser) Close() error { return nil }

// serving is the state of a worker process between runs: compiled programs and the names
// of operations. Nothing of a run stays.
type serving struct {
	in       *frames
	out      io.Writer
	programs *programs
	names    *names
	w        writer
}

// serve carries out one start frame.
func (k *serving) serve(frame []byte) error {
	h := &pipeHost{k: k, docs: map[uint64]*remoteDoc{}}
	k.w.handles = h
	r := reader{b: frame, handles: h}
	if r.byte() != frameStart {
		return errWire
	}
	if r.bool() {
		k.names = newNames(r.strings())
	}
	limits := r.limits()
	at := time.UnixMilli(r.int())
	strict, check := r.bool(), r.bool()
	file, source := r.string(), r.string()
	in := r.value()
	params, _ := r.value().(map[string]any)
	if r.err != nil || k.names == nil {
		return errWire
	}
	h.at = at
	debug.SetMemoryLimit(limits.Memory * 3 / 4)
	worker.LimitCPU(limits.CPU)
	out, err := k.run(h, limits, job{file: file, source: source, strict: strict, check: check}, in, params)
	if h.broken != nil {
		return h.broken
	}
	return k.done(h, out, err)
}

// job is what to run.
type job struct {
	file, source  string
	strict, check bool
}

func (k *serving) run(h *pipeHost, l *Limits, j job, in any, params map[string]any) (any, error) {
	p, err := k.programs.get(j.file, j.source, j.strict)
	if err != nil {
		return nil, err
	}
	if j.check {
		return nil, nil
	}
	heap := *l
	heap.Memory = l.Memory * 3 / 5 // of the process's data, so that the script is told before the system ends it
	return newMachine(h, k.names, &heap).run(context.Background(), p, in, params)
}

// done reports the end of a run.
func (k *serving) done(h *pipeHost, out any, err error) error {
	w := &k.w
	w.start(frameDone)
	h.flush(w)
	w.bool(heapInUse() > maxReuse)
	w.bool(err == nil)
	if err == nil {
		if err = w.value(out); err == nil {
			return w.send(k.out)
		}
		w.start(frameDone)
		w.uint(0)
		w.uint(0)
		w.bool(true)
		w.bool(false)
	}
	var at *Error
	if !errors.As(err, &at) {
		at = &Error{Err: err}
	}
	ref := int64(-1)
	var remote *remoteError
	if errors.As(at.Err, &remote) {
		ref = remote.ref
	}
	w.failure(at.Err, ref)
	w.string(at.File)
	w.int(int64(at.Line))
	w.int(int64(at.Column))
	w.uint(uint64(len(at.Stack)))
	for _, f := range at.Stack {
		w.string(clip(f.Function, 200))
		w.int(int64(f.Line))
		w.int(int64(f.Column))
	}
	return w.send(k.out)
}

// pipeHost is the host of a script in a worker: everything is asked of the server. What
// the script changes in memory goes along with the next question.
type pipeHost struct {
	k       *serving
	at      time.Time
	docs    map[uint64]*remoteDoc
	sets    []propertyChange
	vars    map[string]any // copy of the context's variables, nil when unknown
	varSets []variableChange
	passed  []*remoteDoc // documents in the question being asked
	answer  uint64       // number of the last answer
	broken  error
}

type propertyChange struct {
	d     *remoteDoc
	xpath string
	value any
}

type variableChange struct {
	name  string
	value any
}

// flush writes the changes that wait.
func (h *pipeHost) flush(w *writer) {
	w.uint(uint64(len(h.sets)))
	for _, s := range h.sets {
		w.uint(s.d.id)
		w.string(s.xpath)
		h.try(w.value(s.value))
	}
	w.uint(uint64(len(h.varSets)))
	for _, s := range h.varSets {
		w.string(s.name)
		h.try(w.value(s.value))
	}
	h.sets, h.varSets = h.sets[:0], h.varSets[:0]
}

func (h *pipeHost) try(err error) {
	if err != nil && h.broken == nil {
		h.broken = err
	}
}

// ask sends the frame that is being written and reads the answer.
func (h *pipeHost) ask() (any, error) {
	if h.broken != nil {
		return nil, h.broken
	}
	if err := h.k.w.send(h.k.out); err != nil {
		h.broken = err
		return nil, err
	}
	frame, err := h.k.in.next()
	if err != nil {
		h.broken = err
		return nil, err
	}
	h.answer++
	r := reader{b: frame, handles: h}
	if r.byte() != frameAnswer {
		h.broken = errWire
		return nil, errWire
	}
	if !r.bool() {
		e := r.failure()
		if r.err != nil {
			h.broken = r.err
		}
		return nil, e
	}
	v := r.value()
	if r.err != nil {
		h.broken = r.err
	}
	return v, r.err
}

// question starts a frame that asks for something other than an operation.
func (h *pipeHost) question(what byte) *writer {
	w := &h.k.w
	w.start(frameAsk)
	h.flush(w)
	w.byte(what)
	return w
}

func (h *pipeHost) call(op string, in any, params map[string]any, line int) (any, error) {
	w := &h.k.w
	w.start(frameCall)
	h.flush(w)
	w.string(op)
	w.int(int64(line))
	h.passed = h.passed[:0]
	h.try(w.value(in))
	var p any
	if params != nil {
		p = params
	}
	h.try(w.value(p))
	v, err := h.ask()
	for _, d := range h.passed { // the operation may have changed them
		if d.answer != h.answer {
			d.stale = true
		}
	}
	h.vars = nil
	return v, err
}

// Questions other than calls.
const (
	askHelper    = 'h'
	askVariables = 'v'
	askDocument  = 'd'
	askProperty  = 'p'
	askText      = 't'
	askUser      = 'u'
	askNothing   = 'n' // only carries changes to the server
	askJSON      = 'j' // all properties of a document
)

func (h *pipeHost) helper(name string, args []any) (any, error) {
	w := h.question(askHelper)
	w.string(name)
	h.try(w.value(args))
	h.vars = nil
	return h.ask()
}

func (h *pipeHost) variable(name string) (any, bool, error) {
	if err := h.load(); err != nil {
		return nil, false, err
	}
	v, ok := h.vars[name]
	return v, ok, nil
}

func (h *pipeHost) variables() ([]string, error) {
	if err := h.load(); err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(h.vars))
	for k := range h.vars {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, nil
}

func (h *pipeHost) load() error {
	if h.vars != nil {
		return nil
	}
	h.question(askVariables)
	v, err := h.ask()
	if err != nil {
		return err
	}
	vars, ok := v.(map[string]any)
	if !ok {
		return errWire
	}
	h.vars = vars
	return nil
}

func (h *pipeHost) setVariable(name string, v any) error {
	if name == "ChainParameters" {
		return reservedVariable(name)
	}
	if err := h.load(); err != nil {
		return err
	}
	if _, gone := v.(absent); gone {
		delete(h.vars, name)
	} else {
		h.vars[name] = v
	}
	h.varSets = append(h.varSets, variableChange{name, v})
	return nil
}

func reservedVariable(name string) error {
	return fault.Invalid.Errorf("variable %s: reserved", name)
}

func (h *pipeHost) user() (map[string]any, error) {
	h.question(askUser)
	v, err := h.ask()
	u, _ := v.(map[string]any)
	return u, err
}

func (h *pipeHost) now() time.Time { return h.at }

func (h *pipeHost) log(level, text string) {
	w := &h.k.w
	w.start(frameLog)
	w.string(level)
	w.string(text)
	h.try(w.send(h.k.out))
}
