package scripts

import (
	"bytes"
	"slices"
	"time"

	"catena/storage/fault"
)

// pipeHost is the host of a script in a worker: everything is asked of the server. What
// the script changes in memory goes along with the next question.
type pipeHost struct {
	k       *serving
	run     uint32 // its number
	at      time.Time
	docs    map[uint64]*remoteDoc
	sets    []propertyChange
	vars    map[string]any // copy of the context's variables, nil when unknown
	varSets []variableChange
	passed  []*remoteDoc // documents in the question being asked
	answer  uint64       // number of the last answer
	stream  stream
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
	frame, err := h.next(frameAnswer)
	if err != nil {
		return nil, err
	}
	// The buffer of the frame is used again, while documents keep parts of their answer.
	return h.result(bytes.Clone(frame[1:]))
}

// next returns the next frame of the kind; answers that come ahead are put aside.
func (h *pipeHost) next(kind byte) ([]byte, error) {
	for {
		frame, err := h.k.in.next()
		if err != nil {
			h.broken = err
			return nil, err
		}
		switch frame[0] {
		case frameAhead, frameNoMore:
			h.stream.took(frame)
			if kind == frameAhead {
				return frame, nil
			}
		case kind:
			return frame, nil
		default:
			h.broken = errWire
			return nil, errWire
		}
	}
}

// result reads what came out of a call. It keeps b.
func (h *pipeHost) result(b []byte) (any, error) {
	h.answer++
	r := reader{b: b, handles: h}
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

// stopped reports whether the server wants the run to end.
func (h *pipeHost) stopped() bool {
	return h.k.link != nil && h.k.link.peer.stopped.Load() == h.run
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
	// Answers that came ahead are of a state in which the changes that wait, or this call, had not been made.
	reads := h.k.names.reads[op]
	if !reads || len(h.sets) > 0 || len(h.varSets) > 0 {
		h.stream.forget()
	} else if v, err, ok := h.foreseen(op, in, params, line); ok {
		return v, err
	}
	w := &h.k.w
	w.start(frameCall)
	h.flush(w)
	w.string(op)
	w.int(int64(line))
	h.values(in, params)
	if reads && h.k.link != nil {
		h.stream.announce(w, op, in, params, line)
	} else {
		w.uint(0)
	}
	v, err := h.ask()
	if !reads {
		h.outdated()
	}
	h.stream.note(v)
	h.vars = nil
	return v, err
}

// foreseen returns the answer to a call that was announced, if it was.
func (h *pipeHost) foreseen(op string, in any, params map[string]any, line int) (v any, err error, ok bool) { //nolint:revive,staticcheck // ok is about both
	t := &h.stream
	if t.waiting == 0 && len(t.frames) == 0 {
		return nil, nil, false
	}
	// What is recorded of it has the line of the call that announced it.
	if line != t.line || !t.follows(op, in, params) {
		if op == t.op {
			t.forget()
		}
		return nil, nil, false
	}
	for len(t.frames) == 0 {
		if t.waiting == 0 {
			return nil, nil, false
		}
		if _, err := h.next(frameAhead); err != nil {
			return nil, err, true
		}
	}
	frame := t.frames[0]
	t.frames = t.frames[1:]
	t.next++
	h.k.link.own.taken.Add(1)
	v, err = h.result(frame)
	return v, err, true
}

// values writes the input and the parameters of a call.
func (h *pipeHost) values(in, params any) {
	h.passed = h.passed[:0]
	if m, ok := params.(map[string]any); ok && m == nil {
		params = nil // there are none
	}
	h.try(h.k.w.value(in))
	h.try(h.k.w.value(params))
}

// outdated notes that an operation may have changed the documents that were passed to it.
func (h *pipeHost) outdated() {
	for _, d := range h.passed {
		// A document that the answer itself describes is up to date.
		if d.answer != h.answer {
			d.stale = true
		}
	}
}

// send has the server carry out a call when it comes to it.
func (h *pipeHost) send(op string, in, params any, stack []byte) error {
	// The server has noted a failure of an earlier call that was not waited for.
	if h.stopped() {
		return errStopped
	}
	if !h.k.names.reads[op] {
		h.stream.forget()
	}
	w := &h.k.w
	w.start(frameSend)
	h.flush(w)
	w.string(op)
	w.b = append(w.b, stack...)
	h.values(in, params)
	h.answer++
	h.outdated()
	h.vars = nil
	if h.broken == nil {
		h.try(w.send(h.k.out))
	}
	return h.broken
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
	askSource    = 's' // of the script
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
	// One question brings all variables; they are known until the next call, which may change them.
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
	// The copy is changed at once and the server with the next question, so a script reads what it wrote.
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
