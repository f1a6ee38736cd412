package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
)

// Names of what is kept of runs, for packages that know storage by the engine alone.
type (
	// EndedRun is a call that has ended.
	EndedRun = history.Run
	// EndedDetails are what lists do not show of it.
	EndedDetails = history.Details
	// EndedFilter chooses runs.
	EndedFilter = history.Filter
)

// The states of a run.
const (
	RunRuns    = "running"
	RunWaits   = "waiting"
	RunDone    = history.Done
	RunFailed  = history.Failed
	RunStopped = history.Stopped
)

// ended is what lists show of the call.
func (r *running) ended() EndedRun {
	out := EndedRun{
		ID: r.e.live.id(r), Owned: r.whose(), Repository: r.e.repo.Name(), Op: r.def.Name, Version: r.def.Version,
		EntryPoint: r.args.EntryPoint.String(), Request: r.args.RequestID, Remote: r.args.Remote, Start: r.began.UTC(), Duration: time.Since(r.began),
	}
	if r.args.Asked != nil {
		out.Repeats, out.Began = r.args.Asked.Repeats, r.args.Asked.Began
	}
	return out
}

// asked is what a call was asked, from which the details of its run are made.
type asked struct {
	set                    *Set
	def                    *Def
	input, params, context json.RawMessage
	inputLost              bool // it has no name in JSON
}

func (r *running) asking() *asked {
	a := &asked{set: r.set, def: r.def, params: r.args.RawParams}
	if in := r.args.Asked; in != nil {
		a.input, a.context = in.Input, in.Context
	}
	if len(a.input) == 0 {
		found, ok := reference(r.res.Input)
		a.input, a.inputLost = found, !ok
	}
	return a
}

// reference is an input that was found as it is named in JSON; ok is false for files, and what has no name.
func reference(in any) (raw json.RawMessage, ok bool) {
	var name string
	switch in := in.(type) {
	case nil:
		return nil, true
	case *storage.Doc:
		name = "doc:" + in.ID()
	case storage.Docs:
		ids := make([]string, len(in))
		for i, d := range in {
			ids[i] = d.ID()
		}
		name = "docs:" + strings.Join(ids, ",")
	case string:
		name = in
	case storage.Ref:
		name = string(in)
	default:
		return nil, false
	}
	raw, err := json.Marshal(name)
	return raw, err == nil
}

// own returns a copy that may outlast the request. What is too large to be kept is shortened, so that it is left out.
func (a *asked) own(most int) *asked {
	for _, raw := range []*json.RawMessage{&a.input, &a.params, &a.context} {
		*raw = bytes.Clone((*raw)[:min(len(*raw), most+1)])
	}
	return a
}

// details are what was asked, without secrets, files and what is too large, and the trace.
func (a *asked) details(t *Trace, most int) (out EndedDetails) {
	keep := func(name string, d *Def, raw json.RawMessage) json.RawMessage {
		if len(raw) == 0 {
			return nil
		}
		if len(raw) > most {
			out.Left = append(out.Left, name)
			return nil
		}
		kept, left := a.set.withoutSecrets(d, raw, name)
		out.Left = append(out.Left, left...)
		return kept
	}
	if a.inputLost {
		out.Left = append(out.Left, "input")
	}
	out.Input, out.Params, out.Context = keep("input", nil, a.input), keep("params", a.def, a.params), keep("context", nil, a.context)
	if t != nil {
		out.Trace = t.encoded(most)
	}
	return out
}

// encoded is the trace as it is kept: without the innermost steps, and at last without any, if it is too large.
func (t *Trace) encoded(most int) json.RawMessage {
	for depth := 8; depth >= 0; depth /= 2 {
		raw, err := t.appendJSON(make([]byte, 0, min(t.size()/2, most+1)))
		if err != nil || len(raw) <= most {
			return raw
		}
		t = t.pruned(depth)
		if depth == 0 {
			break
		}
	}
	raw, _ := t.appendJSON(nil)
	return raw
}

// pruned returns the trace with so many levels of steps.
func (t *Trace) pruned(depth int) *Trace {
	out := *t
	out.Steps = nil
	if depth > 0 {
		for _, s := range t.Steps {
			out.Steps = append(out.Steps, s.pruned(depth-1))
		}
	}
	return &out
}

// EndedRuns lists the runs that are kept, of all repositories, newest first: all of them for administrators, their own for
// others. More says that there are older ones.
func (e *Engine) EndedRuns(ctx context.Context, as *Principal, f EndedFilter) (out []EndedRun, more bool, err error) {
	err = e.repo.View(ctx, as, func(tx *storage.Tx) error {
		out, more, err = e.endedRuns(tx, f)
		return err
	})
	return out, more, err
}

// endedRuns adds to those that are written those that are about to be.
func (e *Engine) endedRuns(tx *storage.Tx, f EndedFilter) ([]EndedRun, bool, error) {
	waiting, err := e.recorder.waiting(tx, f.Fits)
	if err != nil {
		return nil, false, err
	}
	list, more, err := history.List(tx, &f)
	if err != nil || len(waiting) == 0 {
		return list, more, err
	}
	list = append(list, waiting...)
	slices.SortStableFunc(list, func(a, b EndedRun) int { return strings.Compare(b.ID, a.ID) })
	list = slices.CompactFunc(list, func(a, b EndedRun) bool { return a.ID == b.ID })
	if len(list) > f.Limit {
		list, more = list[:f.Limit], true
	}
	return list, more, nil
}

// EndedRun returns one of them with all that is kept of it.
func (e *Engine) EndedRun(ctx context.Context, as *Principal, id string) (run EndedRun, d EndedDetails, err error) {
	err = e.repo.View(ctx, as, func(tx *storage.Tx) error {
		run, d, err = e.endedRun(tx, id)
		return err
	})
	return run, d, err
}

func (e *Engine) endedRun(tx *storage.Tx, id string) (EndedRun, EndedDetails, error) {
	run, d, waits, err := e.recorder.detailsOf(id, e.limits.RunSize)
	switch {
	case err != nil:
	case !waits || !run.SeenBy(tx):
		run, d, err = history.Get(tx, id)
	case run.Hide(tx):
		d.Trace = nil
	}
	if err == nil && d.Steps != nil {
		t := unpackTrace(d.Steps, run.Start)
		if err = d.Steps.Err(); err == nil {
			d.Trace, err = t.appendJSON(nil)
		}
		if err != nil {
			err = fault.Internal.Errorf("run %s: %w", id, err)
		}
	}
	return run, d, err
}

// RunParts returns the runs with which a chain went on that the run of an id began, oldest first.
func (e *Engine) RunParts(ctx context.Context, as *Principal, id string) (parts []ShownRun, err error) {
	err = e.repo.View(ctx, as, func(tx *storage.Tx) error {
		parts, err = e.runParts(tx, id)
		return err
	})
	return parts, err
}

func (e *Engine) runParts(tx *storage.Tx, id string) ([]ShownRun, error) {
	waiting, err := e.recorder.waiting(tx, func(r *EndedRun) bool { return r.Began == id })
	if err != nil {
		return nil, err
	}
	found, err := history.Parts(tx, id)
	if err != nil {
		return nil, err
	}
	found = append(found, waiting...)
	slices.SortStableFunc(found, func(a, b EndedRun) int { return a.Start.Compare(b.Start) })
	found = slices.CompactFunc(found, func(a, b EndedRun) bool { return a.ID == b.ID })
	parts := make([]ShownRun, len(found))
	for i := range found {
		parts[i] = ShowRun(&found[i])
	}
	return parts, nil
}

// RunParts returns them within this call.
func (c *Ctx) RunParts(id string) ([]ShownRun, error) { return c.run.e.runParts(c.Tx, id) }

// EndedRuns lists runs that are kept, as the engine's method does, within this call.
func (c *Ctx) EndedRuns(f EndedFilter) ([]EndedRun, bool, error) { return c.run.e.endedRuns(c.Tx, f) }

// EndedRun returns a run that is kept.
func (c *Ctx) EndedRun(id string) (EndedRun, EndedDetails, error) { return c.run.e.endedRun(c.Tx, id) }

// RunID is the id of this call.
func (c *Ctx) RunID() string { return c.run.e.live.id(c.run) }

// RunName is the name of the operation or chain that this call is of.
func (c *Ctx) RunName() string { return c.run.def.Name }

// ShownRun is a run as addresses, operations and pages show it.
type ShownRun struct {
	ID         string        `json:"id"`
	State      string        `json:"state"` // running, waiting, done, failed or stopped
	Op         string        `json:"op"`
	Version    int64         `json:"version,omitempty"` // of the chain or script
	User       string        `json:"user"`
	UserID     int64         `json:"userId,omitempty"`
	EntryPoint string        `json:"door,omitempty"` // where it came from: rest, mcp, cli, listener, server
	Repository string        `json:"repository,omitempty"`
	Request    string        `json:"requestId,omitempty"`
	Remote     netip.Addr    `json:"remote,omitzero"`   // address of the client
	Repeats    string        `json:"repeats,omitempty"` // id of the run that it makes again
	Began      string        `json:"began,omitempty"`   // id of the run that began the chain, if this one goes on with it after a wait
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration"` // in nanoseconds, until now or until it ended
	Code       string        `json:"code,omitempty"`
	Error      string        `json:"error,omitempty"`
	StoppedBy  string        `json:"stoppedBy,omitempty"` // who stopped it, and when
	StoppedAt  time.Time     `json:"stoppedAt,omitzero"`

	// Of a chain that waits: for what, until when, and at which line.
	For   string    `json:"for,omitempty"`
	Event string    `json:"event,omitempty"`
	Until time.Time `json:"until,omitzero"`
	Line  int       `json:"line,omitempty"`

	*ShownDetails
}

// ShownDetails are what only a run by itself shows, once it has ended.
type ShownDetails struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
	Left    []string        `json:"left,omitempty"` // what was asked and is not kept
	Trace   json.RawMessage `json:"trace,omitempty"`
	Parts   []ShownRun      `json:"parts,omitempty"` // the runs with which the chain went on after its waits, oldest first
}

// Shown is a call that runs as it is shown.
func (l *Live) Shown() ShownRun {
	return ShownRun{
		ID: l.ID, State: RunRuns, Op: l.Op, User: l.User, EntryPoint: l.EntryPoint.String(), Repository: l.Repository,
		Request: l.Request, Remote: l.Remote, Repeats: l.Repeats, Began: l.Began, Start: l.Start.UTC(), Duration: time.Since(l.Start),
	}
}

// ShowRun is a run that has ended as it is shown.
func ShowRun(r *EndedRun) ShownRun {
	out := ShownRun{
		ID: r.ID, State: r.State(), Op: r.Op, Version: r.Version, User: r.Owner, UserID: r.OwnerID, EntryPoint: r.EntryPoint, Repository: r.Repository,
		Request: r.Request, Remote: r.Remote, Repeats: r.Repeats, Began: r.Began, Start: r.Start, Duration: r.Duration, Code: r.Code, Error: r.Error, StoppedBy: r.StoppedBy,
	}
	if r.StoppedBy != "" {
		out.StoppedAt = r.End()
	}
	return out
}

// ShowDetails is such a run by itself.
func ShowDetails(r *EndedRun, d *EndedDetails) ShownRun {
	out := ShowRun(r)
	out.ShownDetails = &ShownDetails{Input: d.Input, Params: d.Params, Context: d.Context, Left: d.Left, Trace: d.Trace}
	return out
}

// What a step of a packed trace has, besides its operation and its times. A dry run, which alone has changes, is not recorded.
const (
	packedID = 1 << iota
	packedUser
	packedRequest
	packedInput
	packedOutput
	packedError
	packedLine
	packedParams
	packedConsole
	packedWarnings
	packedSteps
)

// texts are those of a step of which it has one or none, in the order of their bits.
func (t *Trace) texts() [6]*string {
	return [...]*string{&t.ID, &t.User, &t.Request, &t.Input, &t.Output, &t.Error}
}

// numbers are how much a step has of the rest, in the order of their bits.
func (t *Trace) numbers() [5]int {
	return [...]int{t.Line, len(t.Params), len(t.Console), len(t.Warnings), len(t.Steps)}
}

// pack packs the trace; its times count from an instant.
func (t *Trace) pack(p *history.Packer, from time.Time) {
	has, texts, numbers := 0, t.texts(), t.numbers()
	for i, s := range texts {
		if *s != "" {
			has |= packedID << i
		}
	}
	for i, n := range numbers {
		if n != 0 {
			has |= packedLine << i
		}
	}
	p.Int(int64(has))
	p.Text(t.Op)
	p.Int(int64(t.Start.Sub(from)))
	p.Int(int64(t.Duration))
	for _, s := range texts {
		if *s != "" {
			p.Text(*s)
		}
	}
	for _, n := range numbers {
		if n != 0 {
			p.Int(int64(n))
		}
	}
	if len(t.Params) > 0 { // looking into a map costs more than the rest of a step
		for name, v := range t.Params {
			p.Text(name)
			p.Text(v)
		}
	}
	for _, line := range t.Console {
		p.Text(line)
	}
	for _, line := range t.Warnings {
		p.Text(line)
	}
	for _, s := range t.Steps {
		s.pack(p, t.Start)
	}
}

// unpackTrace reads a packed trace.
func unpackTrace(u *history.Unpacker, from time.Time) *Trace {
	t := new(Trace)
	has := u.Int()
	t.Op = u.Text()
	t.Start = from.Add(time.Duration(u.Int()))
	t.Duration = time.Duration(u.Int())
	for i, s := range t.texts() {
		if has&(packedID<<i) != 0 {
			*s = u.Text()
		}
	}
	var params, console, warnings, steps int
	for i, into := range []*int{&t.Line, &params, &console, &warnings, &steps} {
		switch {
		case has&(packedLine<<i) == 0:
		case i == 0:
			*into = int(u.Int())
		default:
			*into = u.Len()
		}
	}
	if params > 0 {
		t.Params = make(map[string]string, params)
	}
	for range params {
		name := u.Text()
		t.Params[name] = u.Text()
	}
	for range console {
		t.Console = append(t.Console, u.Text())
	}
	for range warnings {
		t.Warnings = append(t.Warnings, u.Text())
	}
	for range steps {
		t.Steps = append(t.Steps, unpackTrace(u, t.Start))
	}
	return t
}

// within returns the trace as it is kept in so many bytes of JSON, about: without the innermost steps, and at last without any, if
// it is too large.
func (t *Trace) within(most int) *Trace {
	for _, depth := range []int{8, 4, 2, 1, 0} {
		if t.length(most) <= most {
			break
		}
		t = t.pruned(depth)
	}
	return t
}

// length is about what the trace takes as JSON. What is beyond most is not looked at.
func (t *Trace) length(most int) int {
	n := 70 + len(t.Op)
	for _, s := range t.texts() {
		n += len(*s) + 4
	}
	for name, v := range t.Params {
		n += len(name) + len(v) + 6
	}
	for _, lines := range [...][]string{t.Console, t.Warnings} {
		for _, line := range lines {
			n += len(line) + 3
		}
	}
	for _, s := range t.Steps {
		if n > most {
			break
		}
		n += s.length(most - n)
	}
	return n
}
