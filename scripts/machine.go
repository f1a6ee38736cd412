package scripts

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"

	"catena/storage/fault"
)

// machine is one run of one script: a fresh runtime, bound to a host. It is used once,
// by one goroutine; only the timer touches it from outside, through Interrupt.
type machine struct {
	vm      *goja.Runtime
	host    host
	names   *names
	limits  *Limits
	program *program
	input   any
	params  map[string]any

	sender  sender      // nil: every call is waited for
	stopped func() bool // whether the host wants the run to end; nil: it cannot

	globals map[string]goja.Value
	handles map[any]*goja.Object
	thrown  map[*goja.Object]error
	shapes  shapes
	stack   []goja.StackFrame // of the call that is going on
	frames  []Frame
	sites   map[goja.StackFrame]*site
	given   passed // of the call that is being sent
	calls   int
	logged  int
	line    int               // of the script, when it last called out
	missed  string            // the last name asked for that there is not
	escaped map[string]string // as in program, of regular expressions that were made of texts
	fatal   error             // a breach or a cancelled call: the script may not go on
}

// newMachine makes the runtime and binds it: one dynamic object, the prototype of the global one, answers for
// every name on demand. Binding hundreds of operations as functions would cost more than most scripts run.
func newMachine(h host, n *names, l *Limits) *machine {
	m := &machine{vm: goja.New(), host: h, names: n, limits: l}
	m.vm.SetMaxCallStackSize(l.Stack)
	m.vm.SetParserOptions(parser.WithDisableSourceMaps)
	global := m.vm.GlobalObject()
	bound := m.vm.NewDynamicObject((*scope)(m))
	_ = bound.SetPrototype(global.Prototype())
	_ = global.SetPrototype(bound)
	return m
}

// run evaluates the program and, when it declares run, calls that. The result is the
// function's or the value of the last expression.
func (m *machine) run(ctx context.Context, p *program, in any, params map[string]any) (out any, err error) {
	m.program, m.input, m.params = p, in, params
	defer func() {
		// A panic in goja is a bug there. It ends this run with an error; the supervisor does not use the
		// process again.
		if x := recover(); x != nil {
			out, err = nil, m.failure(fault.Internal.Errorf("script: %v\n%s", x, debug.Stack()).WithCode(fault.CodeScriptCrash))
		}
	}()
	w := watch(ctx, m)
	defer w.stop()
	for _, i := range p.extended {
		extensions()[i].extend(m)
	}
	m.shadow(p.roots)
	m.lock(p.literals.roots)
	if len(p.text.imports) > 0 {
		if err := m.link(p); err != nil {
			return nil, m.failure(err)
		}
	}
	v, err := m.vm.RunProgram(p.code)
	if err == nil && p.hasRun {
		v, err = m.callRun(v)
	}
	if err != nil {
		return nil, m.failure(err)
	}
	if v, err = m.settled(v); err != nil {
		return nil, m.failure(err)
	}
	if out, err = m.leave(v); err != nil {
		return nil, m.failure(err)
	}
	if m.fatal != nil {
		return nil, m.failure(m.fatal)
	}
	return out, nil
}

// callRun calls the run that a program declares; v is what the program gave.
func (m *machine) callRun(v goja.Value) (goja.Value, error) {
	var err error
	if m.program.awaits {
		v, err = m.settled(v)
	} else {
		v, err = m.vm.RunProgram(runName)
	}
	if err != nil {
		return nil, err
	}
	run, ok := goja.AssertFunction(v)
	if !ok {
		return nil, fault.Invalid.Errorf("run: not a function").WithCode(fault.CodeScriptError)
	}
	return run(goja.Undefined(), m.enter(m.input), m.parameters())
}

// parameters is the script's params, an object of its own.
func (m *machine) parameters() goja.Value {
	if m.params == nil {
		return m.vm.NewObject()
	}
	return m.enter(m.params)
}

// settled returns what a promise came to; every job has run now.
func (m *machine) settled(v goja.Value) (goja.Value, error) {
	obj, ok := v.(*goja.Object)
	if !ok || obj.ExportType() != typePromise {
		return v, nil
	}
	p, ok := obj.Export().(*goja.Promise)
	if !ok {
		return v, nil
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result(), nil
	case goja.PromiseStateRejected:
		if m.fatal != nil {
			return nil, m.fatal
		}
		return nil, m.locateIn(m.cause(p.Result()), m.originOf(p.Result()))
	}
	return nil, fault.Invalid.Errorf("script: awaits a promise that never settles").WithCode(fault.CodeScriptPending)
}

// originOf finds where an Error was made, from its own stack text.
func (m *machine) originOf(v goja.Value) (frames []Frame) {
	obj, ok := v.(*goja.Object)
	if !ok {
		return nil
	}
	_ = m.vm.Try(func() {
		if s := obj.Get("stack"); s != nil {
			frames = framesIn(clip(s.String(), maxStackText), m.program)
		}
	})
	return frames
}

// leave converts a result. Its getters are code of the script and may throw, which Try turns into an error.
func (m *machine) leave(v goja.Value) (out any, err error) {
	ex := m.vm.Try(func() { out, err = m.export(v) })
	if ex != nil {
		return nil, ex
	}
	return out, err
}

// callOut carries out one call of the host, counted and with the script's line noted.
func (m *machine) callOut(op string, f func(line int) (any, error)) goja.Value {
	m.count(op)
	m.line = m.calledFrom().line
	v, err := f(m.line)
	if err != nil {
		m.refused(err, op)
	}
	return m.enter(v)
}

// count counts one call of the host.
func (m *machine) count(op string) {
	m.calls++
	if m.calls > m.limits.Calls {
		m.fatal = breach(fault.CodeScriptCalls, "script: more than %d calls", m.limits.Calls)
		m.throw(m.fatal, op)
	}
}

// refused raises the error of a call in the script. It does not return.
func (m *machine) refused(err error, op string) {
	var final finalError
	if errors.As(err, &final) {
		m.fatal = final.error
	}
	m.throw(err, op)
}

// site is a place where the script calls the host.
type site struct {
	position
	unused  string   // how the script calls there what it does not use the value of
	literal *literal // nil: parameters are an object
	stack   []goja.StackFrame
	encoded []byte // stack as it is sent
}

// mostSites bounds how many places a machine remembers: a script can make more of them while it runs.
const mostSites = 1000

// calledFrom is where in the script the host is being called.
func (m *machine) calledFrom() *site {
	// A native function has no line of its own, so the script's is one of the first few frames.
	depth := 4
	if len(m.program.modules) > 0 {
		depth = maxFrames // the script may be far behind its modules
	}
	m.stack = m.vm.CaptureCallStack(depth, m.stack[:0])
	if len(m.stack) > 1 {
		if s := m.sites[m.stack[1]]; s != nil {
			return s
		}
	}
	for i, f := range m.stack {
		p := f.Position()
		if p.Line == 0 || f.SrcName() != m.program.file {
			continue
		}
		at := position{p.Line, p.Column}
		s := &site{position: at, unused: m.program.unused[at]}
		if i == 1 { // called by nothing but the script
			s.literal = m.program.literals.calls[at]
			if m.sites == nil || len(m.sites) >= mostSites {
				m.sites = map[goja.StackFrame]*site{}
			}
			m.sites[f] = s
		}
		return s
	}
	return &site{position: position{line: m.line}}
}

// sentStack is the stack of a call as it is sent.
func (m *machine) sentStack(at *site) []byte {
	if len(m.stack) >= 4 {
		m.stack = m.vm.CaptureCallStack(maxFrames+2, m.stack[:0])
	}
	if len(at.stack) == 0 || !slices.Equal(at.stack, m.stack) {
		at.stack = append(at.stack[:0], m.stack...)
		m.frames = framesOf(m.frames[:0], m.stack, m.program)
		w := writer{b: at.encoded[:0]}
		w.stack(m.frames)
		at.encoded = w.b
	}
	return at.encoded
}

// errStopped ends a script whose run has failed already, at a call that it did not wait for.
var errStopped = finalError{fault.Unavailable.Errorf("script: stopped").WithCode(fault.CodeScriptCancelled)}

// called calls an operation as path, with what the script passes. It returns nothing if the script can do without the value:
// then the call is sent, and nobody waits for it.
func (m *machine) called(op, path string, args []goja.Value) (v any, err error) {
	at := m.calledFrom()
	m.line = at.line
	// Both must agree: what the parser has found at this position, and what is called here now. A script may
	// have replaced the function in between.
	send := m.sender != nil && at.unused == path
	literal := at.literal
	if literal != nil && (literal.path != path || len(args) != 1+len(literal.names)) {
		literal = nil
	}
	if send && literal != nil && plainArguments(args, m.limits.Output) {
		m.given = passed{literal.names, args[1:]}
		err = m.sender.send(op, args[0], &m.given, m.sentStack(at))
		m.given = passed{}
		return nil, err
	}
	in := m.mustExport(argument(args, 0))
	var params map[string]any
	if literal != nil {
		params, err = m.parametersOf(passed{literal.names, args[1:]})
		m.must(err)
	} else {
		given := argument(args, 1)
		var ok bool
		if params, ok = m.mustExport(given).(map[string]any); !ok && !goja.IsUndefined(given) && !goja.IsNull(given) {
			m.throw(notParameters(op), op)
		}
	}
	if !send {
		return m.host.call(op, in, params, at.line)
	}
	m.stack = m.vm.CaptureCallStack(maxFrames+2, m.stack[:0]) // getters of what was passed may have called others
	return nil, m.sender.send(op, in, params, m.sentStack(at))
}

func argument(args []goja.Value, i int) goja.Value {
	if i < len(args) {
		return args[i]
	}
	return goja.Undefined()
}

// stop ends the run from outside. The reason comes out as the run's error.
func (m *machine) stop(reason error) { m.vm.Interrupt(reason) }

// watcher stops a machine when its time, its caller's patience or the memory runs out. Memory is sampled,
// since goja does not count it. What grows faster than the samples meets the limit that the operating system
// enforces on the process.
type watcher struct {
	m     *machine
	ctx   context.Context //nolint:containedctx // looked at until the run ends
	mu    sync.Mutex
	done  bool
	timer *time.Timer
	end   time.Time
	heap  uint64 // at the first look
}

// firstLook is how long a run goes on before its use of memory is looked at.
const firstLook = 5 * time.Millisecond

func watch(ctx context.Context, m *machine) *watcher {
	w := &watcher{m: m, ctx: ctx, end: time.Now().Add(m.limits.Wall)}
	w.mu.Lock()
	w.timer = time.AfterFunc(min(firstLook, m.limits.Wall), w.look)
	w.mu.Unlock()
	return w
}

// look stops the script if its time, its caller's patience or its memory is used up, and otherwise sets the timer for the next check.
func (w *watcher) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	left := time.Until(w.end)
	if left <= 0 {
		w.m.stop(timeout(w.m.limits.Wall))
		return
	}
	if w.ctx.Err() != nil {
		w.m.stop(cancelled(w.ctx))
		return
	}
	if w.m.stopped != nil && w.m.stopped() {
		w.m.stop(errStopped)
		return
	}
	if w.outgrown() {
		w.m.stop(outOfMemory(w.m.limits.Memory))
		return
	}
	w.timer.Reset(min(firstLook, left))
}

// outgrown reports whether the heap has grown beyond the limit since the run began.
func (w *watcher) outgrown() bool {
	now := heapInUse()
	// The heap of the process is not empty when a run begins; only the growth is the script's.
	if w.heap == 0 {
		w.heap = now
	}
	return now > w.heap+uint64(w.m.limits.Memory)
}

func (w *watcher) stop() {
	w.mu.Lock()
	w.done = true
	w.timer.Stop()
	w.mu.Unlock()
}

func cancelled(ctx context.Context) error {
	return fault.Unavailable.Errorf("script: %w", context.Cause(ctx)).WithCode(fault.CodeScriptCancelled)
}

func timeout(d time.Duration) error {
	return breach(fault.CodeScriptTimeout, "script: ran longer than %s", d)
}

func outOfMemory(n int64) error {
	return breach(fault.CodeScriptMemory, "script: more than %s of memory", bytesText(n))
}

func bytesText(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// heapInUse is the size of all objects on the process's heap.
func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
