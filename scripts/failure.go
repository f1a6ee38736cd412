package scripts

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dop251/goja"

	"catena/storage/fault"
)

// Frame is one call of a script's stack.
type Frame struct {
	Function     string
	File         string
	Line, Column int
}

// String shows the frame as stack traces do.
func (f Frame) String() string {
	at := fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	if f.Function == "" {
		return "at " + at
	}
	return "at " + f.Function + " (" + at + ")"
}

// Error is a failure with its position in the script; Stack holds the script's own lines,
// innermost first.
type Error struct {
	File         string
	Line, Column int
	Stack        []Frame
	Err          error
}

// Error returns the cause with the place in front, which stands for the word "script" that a cause may begin with.
func (e *Error) Error() string {
	cause := strings.TrimPrefix(e.Err.Error(), "script: ")
	switch {
	case e.Line == 0:
		return e.File + ": " + cause
	case e.Column == 0:
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, cause)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Trace returns the stack, a line for each call.
func (e *Error) Trace() string {
	var b strings.Builder
	for _, f := range e.Stack {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// located puts a position in front of an error and keeps its kind and code.
func located(err error, file string, line, column int, stack ...Frame) error {
	at := &Error{File: file, Line: line, Column: column, Stack: stack, Err: err}
	out := &fault.Error{Kind: fault.Of(err), Line: line, Column: column, Message: at.Error(), Err: at}
	var f *fault.Error
	if errors.As(err, &f) {
		out.Code, out.Field = f.Code, f.Field
	}
	return out
}

// breach is a limit that was reached. Scripts cannot catch it.
func breach(code fault.Code, format string, args ...any) *fault.Error {
	return fault.Limit.Errorf(format, args...).WithCode(code)
}

// throw raises err in the script as an Error with kind, code and operation. It does not return.
func (m *machine) throw(err error, op string) {
	if m.fatal != nil {
		// A script can catch what is thrown, but not an interrupt.
		m.vm.Interrupt(m.fatal)
		panic(m.vm.ToValue(m.fatal.Error()))
	}
	obj, jsErr := m.vm.New(m.vm.GlobalObject().Get("Error"), m.vm.ToValue(err.Error()))
	if jsErr != nil {
		obj = m.vm.NewTypeError(err.Error())
	}
	kind, code, field := describe(err)
	set := func(name, v string) {
		if v != "" {
			_ = obj.DefineDataProperty(name, m.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_TRUE)
		}
	}
	set("kind", kind)
	set("code", code)
	set("field", field)
	set("operation", op)
	// A script that catches errors in a loop must not keep them all alive. One that is forgotten here loses
	// its code when it leaves the script, not its message.
	if m.thrown == nil || len(m.thrown) >= 64 {
		m.thrown = map[*goja.Object]error{}
	}
	m.thrown[obj] = err
	panic(obj)
}

// describe returns what a script may know of an error beside its message.
func describe(err error) (kind, code, field string) {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Kind.String(), f.Code.String(), f.Field
	}
	return fault.Of(err).String(), "", ""
}

// failure turns what ended a run into an error with the script's place.
func (m *machine) failure(err error) error {
	var ex *goja.Exception
	var stop *goja.InterruptedError
	var deep *goja.StackOverflowError
	var inside *Error
	switch {
	case errors.As(err, &inside):
		return err
	case errors.As(err, &stop):
		cause, ok := stop.Value().(error)
		if !ok {
			cause = breach(fault.CodeScriptTimeout, "script: stopped")
		}
		return m.locate(cause, stop.Stack())
	case errors.As(err, &deep):
		return m.locate(breach(fault.CodeScriptStack, "script: more than %d nested calls", m.limits.Stack), deep.Stack())
	case errors.As(err, &ex):
		if m.fatal != nil {
			return m.locate(m.fatal, ex.Stack())
		}
		return m.locate(m.cause(ex.Value()), ex.Stack())
	}
	return m.locateIn(err, nil)
}

// cause returns the error behind a thrown value: the operation's own, or what the script made.
func (m *machine) cause(v goja.Value) error {
	obj, ok := v.(*goja.Object)
	if !ok {
		return fault.Invalid.New(clip(v.String(), 4096)).WithCode(fault.CodeScriptError)
	}
	if err := m.thrown[obj]; err != nil {
		return err
	}
	text := "script failed"
	var inner error
	if ex := m.vm.Try(func() {
		text = clip(obj.String(), 4096)
		if c, ok := obj.Get("cause").(*goja.Object); ok {
			inner = m.thrown[c]
		}
	}); ex != nil {
		text = "script failed with a value that cannot be converted to text"
	}
	if inner != nil {
		return fault.Wrap(inner, "%s", text)
	}
	return fault.Invalid.Errorf("%s%s", text, m.meant(text)).WithCode(fault.CodeScriptError)
}

// meant is what to say besides about a name that was probably misspelt.
func (m *machine) meant(text string) string {
	path, name := "", m.missed
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		path, name = m.missed[:dot+1], m.missed[dot+1:]
	}
	if name == "" || text != "ReferenceError: "+name+" is not defined" && !strings.HasSuffix(text, " has no member '"+name+"'") {
		return ""
	}
	known := (*scope)(m).Keys()
	if path != "" {
		known = m.names.below(path[:len(path)-1])
	}
	return fault.PerhapsIn(path, name, slices.Values(known))
}

// Bounds on the stack of a failure.
const (
	maxFrames    = 50
	maxStackText = 64 << 10 // bytes read of the text of one
)

// locate locates err at the innermost line of the script itself.
func (m *machine) locate(err error, stack []goja.StackFrame) error {
	return m.locateIn(err, framesOf(nil, stack, m.program))
}

// framesOf appends the frames of a script in the stack of its runtime.
func framesOf(frames []Frame, stack []goja.StackFrame, of *program) []Frame {
	for _, f := range stack {
		if p := f.Position(); of.has(f.SrcName()) && p.Line > 0 && len(frames) < maxFrames {
			frames = append(frames, Frame{f.FuncName(), f.SrcName(), p.Line, p.Column})
		}
	}
	return frames
}

// locateIn locates err at the first of frames, or where the script last called out.
func (m *machine) locateIn(err error, frames []Frame) error {
	if len(frames) == 0 {
		return located(err, m.program.file, m.line, 0)
	}
	return located(err, frames[0].File, frames[0].Line, frames[0].Column, frames...)
}

// framesIn reads the frames of a program in the text of a stack: lines like
// "at name (file:line:column(…))", without the name and its brackets where there is none.
func framesIn(stack string, of *program) []Frame {
	var frames []Frame
	for text := range strings.Lines(stack) {
		text, ok := strings.CutPrefix(strings.TrimSpace(text), "at ")
		if !ok || len(frames) == maxFrames {
			continue
		}
		name, at, named := strings.Cut(text, " (")
		if !named {
			name, at = "", text
		}
		for _, file := range of.files() {
			var line, column int
			in, ok := strings.CutPrefix(at, file+":")
			if !ok {
				continue
			}
			if _, err := fmt.Sscanf(in, "%d:%d(", &line, &column); err == nil && line > 0 {
				frames = append(frames, Frame{name, file, line, column})
				break
			}
		}
	}
	return frames
}

// clip shortens text to at most n bytes without breaking a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// kindOf is the kind of a name that came over the wire; what is not known counts as a fault of the worker.
func kindOf(name string) fault.Kind {
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		if k.String() == name {
			return k
		}
	}
	return fault.Internal
}

// failure writes an error for the other side; ref names the server's own error object.
func (w *writer) failure(err error, ref int64) {
	kind, code, field := describe(err)
	w.string(kind)
	w.string(code)
	w.string(field)
	w.string(clip(err.Error(), 16<<10))
	w.int(ref)
}

// failure reads an error of the other side.
func (r *reader) failure() *remoteError {
	kind, code, field, text := r.string(), r.string(), r.string(), r.string()
	e := &fault.Error{Kind: kindOf(kind), Code: fault.CodeNamed(code), Field: field, Message: text}
	return &remoteError{fault: e, ref: r.int()}
}

// remoteError is an error that has its original on the server, at ref; -1: it has none.
type remoteError struct {
	fault *fault.Error
	ref   int64
}

// Error returns the message.
func (e *remoteError) Error() string { return e.fault.Message }

// Unwrap gives the kind.
func (e *remoteError) Unwrap() error { return e.fault }

func lineOf(err error) int {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Line
	}
	return 0
}

func columnOf(err error) int {
	var f *fault.Error
	if errors.As(err, &f) {
		return f.Column
	}
	return 0
}
