package waiting

import (
	"encoding/json"
	"errors"
	"net/url"
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// Ops are the operations that show and end chains that wait, and that end other calls.
func (r *Runs) Ops() []engine.Op {
	op := func(verb, label, doc string, effect engine.Effect, run engine.Func) engine.Op {
		return engine.Op{Name: "Run." + verb, Label: label, Category: "Scripting", Doc: doc, Effect: effect, Callers: engine.Anyone, Run: run}
	}
	return []engine.Op{
		op("Continue", "Continue a waiting run", "Has a chain that waits, or that failed to go on, go on as soon as possible, and returns its status. "+
			"It goes on in the version in which it began, or in the latest, which has to wait at the same step.", engine.Writes,
			engine.On(func(p continueParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) { return p.goOn(c) })).Returning(waitingRun),
		op("Get", "Show a run", "Returns a run that runs, waits, or has ended: what was asked, without secrets, and the tree of its steps; "+
			"of a chain that waited, also the runs with which it went on (parts).", engine.Reads,
			engine.On(func(p runParams, c *engine.Ctx, _ engine.Void) (engine.ShownRun, error) { return p.get(c) })),
		op("List", "List runs", "Lists runs, newest first: those that run or wait, then those that have ended. Administrators see the runs of all users.", engine.Reads,
			engine.On(runsParams.run)),
		op("Stop", "Stop a run", "Stops a chain that waits: it never goes on, and what it has done stays. Ends a call that runs: its changes are undone.", engine.Writes,
			engine.On(func(p runParams, c *engine.Ctx, _ engine.Void) (any, error) { return p.stop(c) })).Returning(openapi.AnyOf(openapi.Ref("Run"), waitingRun)),
		op("Waiting", "Waiting runs", "Lists the chains that wait: the caller's, or for administrators those of everybody.", engine.Reads,
			engine.On(listParams.run)).Returning(openapi.List(waitingRun)),
	}
}

// waitingRun is the schema of Status.asMap.
var waitingRun = openapi.Ref("WaitingRun")

type runParams struct {
	ID string `json:"id" doc:"Id of the run."`
}

type continueParams struct {
	ID      string `json:"id" doc:"Id of the run."`
	Version string `json:"version" default:"same" enum:"same,latest" doc:"Version of the chain that goes on: that in which the run began, or the latest."`
}

type listParams struct {
	Chain string `json:"chain,omitzero" doc:"Name of the chain; empty means any."`
	Limit int    `json:"limit" default:"100" min:"1" max:"1000" doc:"How many runs are returned."`
}

// Status is where a chain stands that waits.
type Status struct {
	ID      string
	Chain   string
	State   string // waiting, ready when it is about to go on, failed if it could not
	User    string
	Began   time.Time
	Since   time.Time
	For     string
	Until   time.Time
	Event   string
	Line    int
	Done    int // batches, of how many
	Batches int
	Failure string
}

func (w *row) status() Status {
	s := Status{
		ID: w.Run, Chain: w.Chain, State: "waiting", User: w.Owner, Began: w.Began, Since: w.Since, For: w.For, Until: w.Until,
		Event: w.Event, Line: w.Line, Done: w.Done, Batches: w.Batches, Failure: w.Failure,
	}
	switch {
	case w.Failure != "":
		s.State = "failed"
	// A batch waits for nobody: its job is due at once.
	case w.Reason != "" || w.Batched:
		s.State = "ready"
	}
	return s
}

// asMap is the status as the steps of a chain read it.
func (s Status) asMap() map[string]any {
	m := map[string]any{
		"run": s.ID, "chain": s.Chain, "state": s.State, "user": s.User, "began": stamp(s.Began), "since": stamp(s.Since), "for": s.For, "line": int64(s.Line),
	}
	if !s.Until.IsZero() {
		m["until"] = stamp(s.Until)
	}
	if s.Event != "" && s.For == engine.WaitedEvent {
		m["event"] = s.Event
	}
	if s.For == "batch" {
		// Integers of chains are int64.
		m["done"], m["batches"] = int64(s.Done), int64(s.Batches)
	}
	if s.Failure != "" {
		m["failure"] = s.Failure
	}
	return m
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// find returns the run of an id, if it is for the caller to see.
func (p runParams) find(c *engine.Ctx) (*row, *storage.Tx, error) {
	all := c.Tx.As(c.Tx.Repo().System())
	missing := fault.NotFound.Errorf("run %s: does not wait", p.ID)
	if !c.As.Admin {
		var w row
		found, err := all.Table(table).Get(url.PathEscape(c.As.Name)+"/"+p.ID, &w)
		if err == nil && (!found || !w.Is(c.As)) {
			err = missing
		}
		return &w, all, err
	}
	// Rows are kept by owner, whom an administrator need not know.
	for w, err := range storage.Records[row](all.Table(table), "", "", 0) {
		if err == nil {
			err = c.Check()
		}
		if err != nil {
			return nil, nil, err
		}
		if w.Run == p.ID {
			return &w, all, nil
		}
	}
	return nil, nil, missing
}

func (p continueParams) goOn(c *engine.Ctx) (map[string]any, error) {
	w, all, err := runParams{p.ID}.find(c)
	if err != nil {
		return nil, err
	}
	running, err := outbox.Jobs(all, outbox.Runs, JobKind, 0)
	if err != nil {
		return nil, err
	}
	for _, j := range running {
		var t turn
		if json.Unmarshal(j.Data, &t) == nil && t.Key == w.key() {
			return nil, fault.Conflict.Errorf("run %s: goes on at this moment", p.ID)
		}
	}
	if err := w.forget(all); err != nil {
		return nil, err
	}
	w.Reason, w.Failure, w.Latest = engine.WaitedAsked, "", p.Version == "latest"
	if err := w.another(all); err != nil {
		return nil, err
	}
	return w.status().asMap(), enqueue(all, w, c.Now, w.Reason)
}

func (p runParams) stop(c *engine.Ctx) (any, error) {
	if l, err := c.Engine().RunningCall(c.As, p.ID); err == nil {
		s := l.Shown()
		s.State = engine.RunStopped
		return s, c.Engine().EndRun(c.As, p.ID)
	}
	w, all, err := p.find(c)
	if err != nil {
		return c.EndElsewhere(p.ID, err)
	}
	s := w.status().asMap()
	s["state"] = engine.RunStopped
	run := w.ended(c)
	run.StoppedBy, run.Error = c.As.Name, w.Failure
	return s, errors.Join(w.remove(all), c.KeepEnded(run))
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	out := []any{}
	err := eachWaiting(c, func(w *row) bool {
		if p.Chain == "" || p.Chain == w.Chain {
			out = append(out, w.status().asMap())
		}
		return len(out) < p.Limit
	})
	return out, err
}
