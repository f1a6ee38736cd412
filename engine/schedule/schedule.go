// Package schedule runs operations, chains and scripts at times: by a cron expression in a time zone, at an interval, or
// once. A schedule is a text; engine/library keeps its versions. Of each deployed schedule there is a row with the next time,
// and one job in the outbox that is due then, so that schedules cost nothing until their time has come.
//
// No run is made twice: the transaction that plans the next time also asks for the run, and the transaction of the run
// takes what was asked for away. A run that fails is tried again as other jobs are, until the next one is due, which takes
// its place.
package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/schema"
)

// The kinds of jobs: one that is due when a schedule is, and the run.
const (
	DueJob = "schedule"
	RunJob = "schedule.run"
)

const (
	table     = "schedule"
	batch     = 200 // schedules that one transaction plans
	maxReason = 2000
)

// Schedules are the schedules of one engine.
type Schedules struct {
	Users func(name string) bool // the users that there are; nil: those of the repository

	kind   *library.Kind
	engine *engine.Engine

	mu       sync.Mutex
	deployed map[string]text
	versions map[string]int64 // also of those that do not parse
}

// text is a deployed schedule, with what lists show of it. It is parsed again when it is needed: parsed, thousands would fill memory.
type text struct {
	library.Version
	run, as string
}

func (t *text) parse() *Schedule {
	sch, _ := Parse(t.File, []byte(t.Source)) // it did when it was deployed
	return sch
}

// New returns the schedules of an engine, none yet.
func New() *Schedules {
	s := &Schedules{deployed: map[string]text{}, versions: map[string]int64{}}
	s.kind = &library.Kind{Family: "Schedule", Noun: "schedule", Ext: []string{".yaml", ".yml", ".json"}, Check: s.check, Put: s.put, Keep: keep, Works: works}
	return s
}

// Load deploys the schedules that are kept, at start.
func (s *Schedules) Load(ctx context.Context, e *engine.Engine) error {
	s.engine = e
	return s.kind.Load(ctx, e)
}

// Refresh deploys what other servers have deployed on the same store.
func (s *Schedules) Refresh(ctx context.Context, e *engine.Engine) error {
	return s.kind.Refresh(ctx, e)
}

// Sync applies the files of a folder whose text is not what is deployed.
func (s *Schedules) Sync(ctx context.Context, e *engine.Engine, dir fs.FS) ([]string, error) {
	return s.kind.Sync(ctx, e, dir)
}

// Lacks are the deployed schedules that do not work on this server.
func (s *Schedules) Lacks(e *engine.Engine) []library.Lack { return s.kind.Lacks(e) }

// works finds what of a deployed schedule this server does not have.
func works(set *engine.Set, types *schema.Registry, file, source string) []library.Problem {
	sch, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return problems
	}
	return sch.Works(set, types, file, sch.in(), scheduleVariable)
}

// check finds everything that is wrong with a text.
func (s *Schedules) check(c *engine.Ctx, file, source string) (string, []library.Problem, error) {
	sch, problems := Parse(file, []byte(source))
	if len(problems) > 0 {
		return "", problems, nil
	}
	return sch.Name, sch.Check(c, file, sch.in(), scheduleVariable, s.Users), nil
}

// keep plans a schedule in the transaction that saves its text, so that there is none that is saved and never due, whatever fails
// once it has been saved.
func keep(tx *storage.Tx, v library.Version) error {
	if v.Deleted {
		return arrange(tx, v.Name, nil, v.Version)
	}
	sch, problems := Parse(v.File, []byte(v.Source))
	if len(problems) > 0 {
		return problems[0]
	}
	return arrange(tx, v.Name, sch, v.Version)
}

// put takes the deployed schedules. Those that are new or have changed have been planned, unless the text was kept by a server from
// before that was so.
func (s *Schedules) put(all []library.Version) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	var changed []string
	parsed := map[string]*Schedule{}
	deployed, versions := make(map[string]text, len(all)), make(map[string]int64, len(all))
	for _, v := range all {
		versions[v.Name] = v.Version
		if old, ok := s.deployed[v.Name]; ok && v.Version == s.versions[v.Name] {
			deployed[v.Name] = old
			continue
		}
		sch, problems := Parse(v.File, []byte(v.Source))
		if len(problems) > 0 {
			errs = append(errs, fmt.Errorf("schedule %s: %w", v.Name, problems[0]))
			continue
		}
		deployed[v.Name], parsed[v.Name], changed = text{v, sch.Step.Op, sch.As}, sch, append(changed, v.Name)
	}
	for name := range s.deployed {
		if _, ok := deployed[name]; !ok {
			changed = append(changed, name)
			versions[name] = max(versions[name], s.versions[name])
		}
	}
	s.deployed, s.versions = deployed, versions
	slices.Sort(changed)
	for part := range slices.Chunk(changed, batch) {
		errs = append(errs, s.engine.Repo().Update(context.Background(), s.engine.System(), func(tx *storage.Tx) error {
			for _, name := range part {
				if err := arrange(tx, name, parsed[name], versions[name]); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	return errors.Join(errs...)
}

// state is the row of a schedule.
type state struct {
	Version int64     `json:"version"`
	Next    time.Time `json:"next,omitzero"`    // when it is due; zero: not any longer, or it is stopped
	Planned time.Time `json:"planned,omitzero"` // when it was due last
	Pending time.Time `json:"pending,omitzero"` // the run that was asked for and has not been made yet
	Last    time.Time `json:"last,omitzero"`    // when the last run that went well was made
	Failure string    `json:"failure,omitempty"`
	Stopped bool      `json:"stopped,omitempty"`
}

// arrange makes the row of a schedule what a version of its text says; nil removes it. What a server knows that has not followed
// the others yet changes nothing.
func arrange(tx *storage.Tx, name string, s *Schedule, version int64) error {
	var st state
	found, err := tx.Table(table).Get(name, &st)
	switch {
	case err != nil:
		return err
	case s == nil && found && st.Version <= version:
		return tx.Table(table).Delete(name)
	case s == nil || found && st.Version >= version:
		return nil // planned already, or changed since, by another server or one before this one
	}
	st.Version, st.Planned = version, time.Time{}
	return plan(tx, name, s, &st)
}

// plan sets the next time of a schedule, and adds the job that is due then.
func plan(tx *storage.Tx, name string, s *Schedule, st *state) error {
	st.Next = time.Time{}
	if !st.Stopped {
		st.Next = s.next(st.Planned, tx.Now())
	}
	if !st.Next.IsZero() {
		if err := enqueue(tx, DueJob, name, st.Next); err != nil {
			return err
		}
	}
	return tx.Table(table).Put(name, st)
}

// occurrence is the data of a job.
type occurrence struct {
	Name string    `json:"name"`
	At   time.Time `json:"at"`
}

func enqueue(tx *storage.Tx, kind, name string, at time.Time) error {
	data, err := json.Marshal(occurrence{name, at})
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: kind, Due: at, Fixed: kind == DueJob, Data: data})
}

// named returns a deployed schedule in the version that this server has; nil if it has none.
func (s *Schedules) named(name string) *Schedule {
	if t, ok := s.text(name); ok {
		return t.parse()
	}
	return nil
}

func (s *Schedules) text(name string) (text, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.deployed[name]
	return t, ok
}

// find returns a deployed schedule; nil if this server does not have the version.
func (s *Schedules) find(name string, version int64) *Schedule {
	if t, ok := s.text(name); ok && t.Version.Version == version {
		return t.parse()
	}
	return nil
}

// Bounds of the pause before a job is tried again of which this server has another version, or none.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = time.Minute
)

// otherVersion has a job wait that was planned with a version which this server does not have: it has not followed yet, or the
// other server is newer and understands what this one does not. The longer it is late, the longer it waits.
func otherVersion(tx *storage.Tx, o occurrence) error {
	pause := min(max(shortestPause, tx.Now().Sub(o.At)), longestPause)
	return &outbox.Later{At: tx.Now().Add(pause), Why: fmt.Sprintf("schedule %s: this server does not have the version yet that was planned", o.Name)}
}

// Jobs are what carries out the jobs of schedules.
func (s *Schedules) Jobs() outbox.Handlers {
	return outbox.Handlers{DueJob: {Do: s.due}, RunJob: {Do: s.run, AtOnce: 4}}
}

// due asks for the run whose time has come, and plans the next.
func (s *Schedules) due(ctx context.Context, j outbox.Job) error {
	var o occurrence
	if err := json.Unmarshal(j.Data, &o); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	return s.engine.Repo().Update(ctx, s.engine.System(), func(tx *storage.Tx) error {
		var st state
		found, err := tx.Table(table).Get(o.Name, &st)
		if err != nil || !found || !st.Next.Equal(o.At) {
			return err // planned again since, or stopped
		}
		sch := s.find(o.Name, st.Version)
		if sch == nil {
			return otherVersion(tx, o)
		}
		st.Planned = o.At
		if !sch.Skip || tx.Now().Sub(o.At) <= late {
			if st.Pending = o.At; err == nil {
				err = enqueue(tx, RunJob, o.Name, o.At)
			}
		}
		if err != nil {
			return err
		}
		return plan(tx, o.Name, sch, &st)
	})
}

// run makes a run that was asked for. What asked for it is taken away in the same transaction.
func (s *Schedules) run(ctx context.Context, j outbox.Job) error {
	var o occurrence
	if err := json.Unmarshal(j.Data, &o); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	call := engine.Call{Op: "schedule " + o.Name, As: s.engine.System(), EntryPoint: engine.Listener, Asked: &engine.Asked{}}
	var later *outbox.Later
	err := s.engine.Work(ctx, call, engine.Writes, func(tx *storage.Tx) error {
		var st state
		found, err := tx.Table(table).Get(o.Name, &st)
		if err != nil || !found || !st.Pending.Equal(o.At) {
			return err // made already, or the next one has taken its place
		}
		sch := s.find(o.Name, st.Version)
		if sch == nil {
			return otherVersion(tx, o)
		}
		st.Pending, st.Last, st.Failure = time.Time{}, tx.Now(), ""
		if err := tx.Table(table).Put(o.Name, &st); err != nil {
			return err
		}
		return s.carryOut(tx, sch, o)
	})
	if err == nil || errors.As(err, &later) {
		return err
	}
	noted := s.engine.Repo().Update(context.WithoutCancel(ctx), s.engine.System(), func(tx *storage.Tx) error {
		return change(tx, o.Name, func(st *state) error {
			st.Failure = err.Error()[:min(len(err.Error()), maxReason)]
			return nil
		})
	})
	return errors.Join(outbox.Final(err), noted)
}

// carryOut runs what a schedule names, as its user.
func (s *Schedules) carryOut(tx *storage.Tx, sch *Schedule, o occurrence) error {
	as, err := engine.RunsAs(tx, sch.As)
	if err != nil {
		return fault.Denied.Errorf("schedule %s: user %s: %w", sch.Name, sch.As, err)
	}
	return s.engine.Within(tx, as, engine.Listener, "schedule "+sch.Name, func(c *engine.Ctx) error {
		var in any
		if sch.Input != "" {
			d, err := c.Tx.Doc(storage.Ref(sch.Input))
			if err != nil {
				return err
			}
			in = d
		}
		c.SetVar(scheduleVariable, map[string]any{"name": sch.Name, "at": o.At})
		p, err := sch.Plan(c.Set(), sch.in(), scheduleVariable, engine.PlanOptions{})
		if err == nil {
			_, err = p.Run(c, in)
		}
		if err != nil {
			return fault.Wrap(err, "schedule %s", sch.Name)
		}
		return nil
	})
}

// change changes the row of a schedule.
func change(tx *storage.Tx, name string, f func(*state) error) error {
	var st state
	found, err := tx.Table(table).Get(name, &st)
	if err != nil || !found {
		return err
	}
	if err := f(&st); err != nil {
		return err
	}
	return tx.Table(table).Put(name, &st)
}

// names are the deployed schedules in order.
func (s *Schedules) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.deployed))
}
