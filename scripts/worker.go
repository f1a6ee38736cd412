package scripts

import (
	"bytes"
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

	"catena/engine/worker"
)

const (
	maxReuse     = 48 << 20 // bytes of heap that a worker may hold after a run and still be used again
	programsKept = 4 << 20  // bytes of source that it keeps compiled
)

// WorkerMain is a worker process: it runs the scripts that come in one after the other
// until the input ends. The server calls it before anything else when it is started as
// a worker; the result is the exit code.
func WorkerMain(in io.Reader, out io.Writer) int {
	// A match that does not end is ended with the process, so that no script reads a
	// timeout as "no match".
	regexp2.DefaultMatchTimeout = time.Duration(math.MaxInt64)
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(64 << 20)
	// Scripts are short: collecting less often saves time, and the memory
	// limit that serve sets takes over when the heap grows.
	debug.SetGCPercent(400)
	var shared *link
	if mem := inheritedShare(); mem != nil {
		shared = newLink(mem, false, in, nopCloser{out})
		shared.nap = nap
		in, out = shared, shared
	}
	if err := worker.Confine(dataLimit); err != nil {
		_, _ = io.WriteString(os.Stderr, "worker: "+err.Error()+"\n")
		return 1
	}
	w := &serving{in: &frames{in: in, max: maxFrame}, out: out, link: shared, programs: newPrograms(programsKept)}
	for {
		frame, err := w.in.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0
			}
			return 1
		}
		if frame[0] == frameAhead || frame[0] == frameNoMore {
			continue // the run has ended
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
	link     *link // what in and out are where memory is shared, else nil
	programs *programs
	names    *names
	w        writer
	memory   int64     // limit that is set
	looked   time.Time // when the heap was measured
}

// serve carries out one start frame.
func (k *serving) serve(frame []byte) error {
	h := &pipeHost{k: k, docs: map[uint64]*remoteDoc{}}
	k.w.handles = h
	r := reader{b: bytes.Clone(frame), handles: h}
	if r.byte() != frameStart {
		return errWire
	}
	if r.bool() {
		k.names = newNames(r.strings(), r.strings()...)
		k.programs = newPrograms(programsKept) // they were compiled for the names there were
	}
	h.run = uint32(r.uint())
	limits := r.limits()
	h.at = time.UnixMilli(r.int())
	j := job{strict: r.bool(), check: r.bool(), module: r.bool(), file: r.string()}
	copy(j.key[:], r.bytes())
	in := r.value()
	params, _ := r.value().(map[string]any)
	if r.err != nil || k.names == nil {
		return errWire
	}
	h.stream.note(in)
	h.stream.note(params)
	if k.memory != limits.Memory {
		k.memory = limits.Memory
		debug.SetMemoryLimit(limits.Memory * 3 / 4)
	}
	worker.LimitCPU(limits.CPU)
	out, err := k.run(h, limits, j, in, params)
	if h.broken != nil {
		return h.broken
	}
	return k.done(h, out, err)
}

func (k *serving) run(h *pipeHost, l *Limits, j job, in any, params map[string]any) (any, error) {
	p, err := k.program(h, &j)
	if err != nil {
		return nil, err
	}
	if j.check {
		return k.check(&j), nil
	}
	for _, texts := range p.texts {
		h.stream.note(texts)
	}
	heap := *l
	heap.Memory = l.Memory * 3 / 5 // of the process's data, so that the script is told before the system ends it
	m := newMachine(h, k.names, &heap)
	m.sender, m.stopped = h, h.stopped
	return m.run(context.Background(), p, in, params)
}

// program returns the compiled script. Its source is asked for when it is not known, or is to be checked.
func (k *serving) program(h *pipeHost, j *job) (*program, error) {
	if p := k.programs.find(j.key); p != nil && !j.check {
		return p, nil
	}
	h.question(askSource)
	v, err := h.ask()
	if err != nil {
		return nil, err
	}
	texts, _ := v.([]any)
	if len(texts) > 0 {
		v = texts[0]
	}
	j.source, _ = v.(string)
	if j.module {
		_, p, err := compileModule(j.file, j.source)
		return p, err
	}
	p, err := compile(j.file, j.source, j.strict, k.names)
	if err == nil && len(texts) > 0 {
		err = p.include(texts[1:])
	}
	if err == nil && !j.check {
		k.programs.add(j.key, p)
	}
	return p, err
}

// check returns the mistakes of a script that can be compiled, and its calls.
func (k *serving) check(j *job) any {
	problems, calls := checkBody(j, func() []string { return slices.Clone(k.names.all) })
	out := make([]any, len(problems))
	for i, p := range problems {
		out[i] = map[string]any{"line": int64(p.Line), "column": int64(p.Column), "message": p.Message, "nearest": p.Nearest}
	}
	return map[string]any{"problems": out, "calls": calls}
}

// large reports whether the worker has grown too much to be used again. It looks now and
// then: that takes longer than a short script.
func (k *serving) large() bool {
	now := time.Now()
	if now.Sub(k.looked) < firstLook {
		return false
	}
	k.looked = now
	return heapInUse() > maxReuse
}

// done reports the end of a run.
func (k *serving) done(h *pipeHost, out any, err error) error {
	w := &k.w
	w.start(frameDone)
	h.flush(w)
	w.bool(k.large())
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
		at = &Error{Line: lineOf(err), Err: err}
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
	w.frames(at.Stack)
	return w.send(k.out)
}

// limits writes the bounds that a worker needs to know.
func (w *writer) limits(l *Limits) {
	for _, n := range []int64{int64(l.Wall), int64(l.CPU), l.Memory, int64(l.Stack), int64(l.Calls), int64(l.Output), int64(l.Log)} {
		w.int(n)
	}
}

func (r *reader) limits() *Limits {
	return &Limits{
		Wall: time.Duration(r.int()), CPU: time.Duration(r.int()), Memory: r.int(), Stack: int(r.int()), Calls: int(r.int()),
		Output: int(r.int()), Log: int(r.int()),
	}
}
