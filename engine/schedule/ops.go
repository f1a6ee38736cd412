package schedule

import (
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/storage/fault"
)

// Ops are the operations that manage schedules.
func (s *Schedules) Ops() []engine.Op {
	op := func(verb, label, doc string, effect engine.Effect, run engine.Func) engine.Op {
		return engine.Op{Name: "Schedule." + verb, Label: label, Category: "Scripting", Doc: doc, Effect: effect, Callers: engine.Admins.From(engine.Direct), Run: run}
	}
	one := func(f func(c *engine.Ctx, name string) (Status, error)) engine.Func {
		return engine.On(func(p nameParams, c *engine.Ctx, _ engine.Void) (Status, error) { return f(c, p.Name) })
	}
	return append(s.kind.Ops(),
		op("Next", "Next runs of a schedule", "Returns when a schedule runs next, a deployed one by its name or the text of one that is not saved: at most as many instants as asked for, fewer if it ends before.", engine.Reads,
			engine.On(func(p nextParams, c *engine.Ctx, _ engine.Void) ([]time.Time, error) { return p.run(s, c) })),
		op("Resume", "Resume a schedule", "Resumes a stopped schedule and returns its status. Runs that were missed meanwhile are not made up for.", engine.Writes, one(s.resume)),
		op("RunNow", "Run a schedule", "Runs a schedule once as soon as possible, besides its planned runs, and returns its status.", engine.Writes, one(s.runNow)),
		op("Status", "Status of schedules", "Returns for each deployed schedule when it runs next, when it ran last, and how the last run failed.", engine.Reads,
			engine.On(func(_ noParams, c *engine.Ctx, _ engine.Void) ([]Status, error) { return s.status(c) })),
		op("Stop", "Stop a schedule", "Stops a schedule until it is resumed, and returns its status. A run that has begun is not ended.", engine.Writes, one(s.stop)),
	)
}

type noParams struct{}

type nameParams struct {
	Name string `json:"name" doc:"Name of the schedule."`
}

// maxNext bounds how many instants are computed.
const maxNext = 100

type nextParams struct {
	Name   string `json:"name,omitzero" doc:"Name of the schedule."`
	Source string `json:"source,omitzero" doc:"The text of a schedule, in place of the name."`
	Count  int    `json:"count" type:"int" default:"5" doc:"Number of instants, at most 100."`
}

func (p nextParams) run(s *Schedules, c *engine.Ctx) ([]time.Time, error) {
	if p.Count < 1 || p.Count > maxNext {
		return nil, fault.Invalid.Errorf("count: must be between 1 and %d", maxNext).In("count")
	}
	var sch *Schedule
	var st state
	switch {
	case p.Source != "" && p.Name != "" || p.Source == "" && p.Name == "":
		return nil, fault.Invalid.Errorf("name: either name or source is required").In("name")
	case p.Source != "":
		var problems []library.Problem
		if sch, problems = Parse("schedule", []byte(p.Source)); len(problems) > 0 {
			return nil, library.Refused(problems, fault.CodeSource)
		}
		st.Next = sch.next(time.Time{}, c.Now)
	default:
		if sch = s.named(p.Name); sch == nil {
			return nil, errUnknown(p.Name)
		}
		if _, err := c.Tx.Table(table).Get(p.Name, &st); err != nil {
			return nil, err
		}
	}
	out := []time.Time{}
	for at := st.Next; !at.IsZero() && len(out) < p.Count; at = sch.next(at, at) {
		if err := c.Check(); err != nil {
			return nil, err
		}
		out = append(out, at)
	}
	return out, nil
}

// Status is where a schedule stands.
type Status struct {
	Name    string    `json:"name"`
	State   string    `json:"state"` // scheduled, stopped, or ended if it is not due any longer
	Run     string    `json:"run"`
	User    string    `json:"user"`
	Next    time.Time `json:"next,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Pending bool      `json:"pending,omitempty"` // a run is to begin, or to be tried again
	Failure string    `json:"failure,omitempty"`
}

func statusOf(t *text, st *state) Status {
	out := Status{Name: t.Name, State: "scheduled", Run: t.run, User: t.as, Next: st.Next, Last: st.Last, Pending: !st.Pending.IsZero(), Failure: st.Failure}
	switch {
	case st.Stopped:
		out.State = "stopped"
	case st.Next.IsZero():
		out.State = "ended"
	}
	return out
}

func (s *Schedules) status(c *engine.Ctx) ([]Status, error) {
	out := []Status{}
	for _, name := range s.names() {
		if err := c.Check(); err != nil {
			return nil, err
		}
		var st state
		if _, err := c.Tx.Table(table).Get(name, &st); err != nil {
			return nil, err
		}
		if t, ok := s.text(name); ok {
			out = append(out, statusOf(&t, &st))
		}
	}
	return out, nil
}

// with changes the row of a deployed schedule and returns its status.
func (s *Schedules) with(c *engine.Ctx, name string, f func(sch *Schedule, st *state) error) (Status, error) {
	t, ok := s.text(name)
	if !ok {
		return Status{}, errUnknown(name)
	}
	var st state
	found, err := c.Tx.Table(table).Get(name, &st)
	if err != nil {
		return Status{}, err
	}
	if found && t.Version.Version != st.Version {
		return Status{}, fault.Unavailable.Errorf("schedule %s: has just been changed by another server, which this one follows within a second", name).After(time.Second)
	}
	if err := f(t.parse(), &st); err != nil {
		return Status{}, err
	}
	return statusOf(&t, &st), c.Tx.Table(table).Put(name, &st)
}

func (s *Schedules) stop(c *engine.Ctx, name string) (Status, error) {
	return s.with(c, name, func(_ *Schedule, st *state) error {
		st.Stopped, st.Next, st.Pending = true, time.Time{}, time.Time{}
		return nil
	})
}

func (s *Schedules) resume(c *engine.Ctx, name string) (Status, error) {
	return s.with(c, name, func(sch *Schedule, st *state) error {
		if !st.Stopped {
			return fault.Conflict.Errorf("schedule %s: is not stopped", name)
		}
		st.Stopped = false
		return plan(c.Tx, name, sch, st)
	})
}

func (s *Schedules) runNow(c *engine.Ctx, name string) (Status, error) {
	return s.with(c, name, func(_ *Schedule, st *state) error {
		st.Pending = c.Tx.Now()
		return enqueue(c.Tx, RunJob, name, st.Pending)
	})
}
