package rest

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/engine"
	"catena/storage/fault"
)

// runs are the asynchronous runs of this server, in memory and bounded. A run belongs to
// the user who started it; to everybody else it does not exist.
type runs struct {
	limits Limits
	ctx    context.Context //nolint:containedctx // of the server
	mu     sync.Mutex
	all    map[string]*asyncRun
}

// askAgain is after how many seconds a client is to ask for what was begun and is not over.
const askAgain = "1"

// asyncRun is one asynchronous run.
type asyncRun struct {
	id, owner, op string // the id is that of the call
	engine        *engine.Engine
	call          engine.Call
	encoder       *encoder
	result        *engine.Result
	size          int64 // of result
	err           error
	ended         time.Time // zero while it runs
	read          bool      // the result was fetched, and gives way to others
	command       string    // id of the bulk command that the operation submitted, whose end is that of the run; "" if none
}

func newRuns(ctx context.Context, l Limits) *runs {
	return &runs{limits: l, ctx: ctx, all: map[string]*asyncRun{}}
}

var descRuns = prometheus.NewDesc("catena_async_runs", "Asynchronous runs by state: running, over (and not expired yet).", []string{"state"}, nil)

// Describe says what is counted.
func (r *runs) Describe(to chan<- *prometheus.Desc) { to <- descRuns }

// Collect counts the runs.
func (r *runs) Collect(to chan<- prometheus.Metric) {
	r.mu.Lock()
	running, over := 0, 0
	for _, run := range r.all {
		if run.ended.IsZero() {
			running++
		} else {
			over++
		}
	}
	r.mu.Unlock()
	to <- prometheus.MustNewConstMetric(descRuns, prometheus.GaugeValue, float64(running), "running")
	to <- prometheus.MustNewConstMetric(descRuns, prometheus.GaugeValue, float64(over), "over")
}

// add makes room for a run and begins it; ctx is that of the request, whose trace it belongs to. What it returns is encoded when it is asked for, unless it is to be kept.
func (r *runs) add(ctx context.Context, run *asyncRun, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	own, _ := r.kept(run.owner, now)
	for (len(r.all) >= r.limits.Runs || own >= r.limits.UserRuns) && r.giveWay(run.owner) {
		own--
	}
	if len(r.all) >= r.limits.Runs || own >= r.limits.UserRuns {
		return fault.Unavailable.Errorf("asynchronous runs: %d are waiting to be read; read or delete them first", own).WithCode(fault.CodeRunsFull)
	}
	call := run.call
	if call.IdempotencyKey == "" {
		call.Encode = nil
	}
	var err error
	if run.id, err = run.engine.Start(engine.SameTrace(r.ctx, ctx), call, func(res *engine.Result, err error) { r.end(run, res, err, time.Now()) }); err != nil {
		return err
	}
	r.all[run.id] = run
	return nil
}

// kept drops the runs that nobody asked for in time, and returns how many an owner has, and how large their results are.
func (r *runs) kept(owner string, now time.Time) (own int, size int64) {
	for id, run := range r.all {
		switch {
		case !run.ended.IsZero() && now.Sub(run.ended) > r.limits.KeepRuns:
			delete(r.all, id)
		case run.owner == owner:
			own, size = own+1, size+run.size
		}
	}
	return own, size
}

// giveWay drops the run of an owner that ended first of those whose result was read, and reports whether there was one.
func (r *runs) giveWay(owner string) bool {
	var oldest *asyncRun
	for _, run := range r.all {
		if run.read && run.owner == owner && (oldest == nil || run.ended.Before(oldest.ended)) {
			oldest = run
		}
	}
	if oldest == nil {
		return false
	}
	delete(r.all, oldest.id)
	return true
}

// end stores what a run returned, unless too much waits to be read already.
func (r *runs) end(run *asyncRun, res *engine.Result, err error, now time.Time) {
	size := int64(0)
	if res != nil {
		size = res.Size()
		run.command = commandOf(res.Value)
	}
	r.mu.Lock()
	_, waits := r.kept(run.owner, now)
	for waits+size > r.limits.UserResults && r.giveWay(run.owner) {
		_, waits = r.kept(run.owner, now)
	}
	if waits+size > r.limits.UserResults {
		res, size = nil, 0
		err = fault.Limit.Errorf("asynchronous runs: results of %d bytes are waiting to be read, which this one would raise above %d; the operation was executed", waits, r.limits.UserResults).
			WithCode(fault.CodeResultsFull)
	}
	run.result, run.size, run.err, run.ended = res, size, err, now
	r.mu.Unlock()
}

// commandOf returns the id of the bulk command that a result describes, "" if it is something else.
func commandOf(v any) string {
	m, _ := v.(map[string]any)
	id, _ := m["commandId"].(string)
	if m["entity-type"] != "bulkStatus" {
		return ""
	}
	return id
}

// of returns the owner's run with this id; fetch notes that its result, if there is one, is being read.
func (r *runs) of(owner, op, id string, fetch bool) (run *asyncRun, over bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, ok := r.all[id]
	if !ok || run.owner != owner || run.op != op {
		return nil, false, fault.NotFound.Errorf("asynchronous run %s", id)
	}
	over = !run.ended.IsZero()
	run.read = run.read || over && fetch
	return run, over, nil
}

func (r *runs) remove(id string) {
	r.mu.Lock()
	delete(r.all, id)
	r.mu.Unlock()
}

// Begin starts a call of an operation in the background, and answers where its status is.
func (x *Request) Begin(name string, call engine.Call, re Reply) error {
	re.base = x.Base()
	run := &asyncRun{owner: x.As.Identity(), op: name, engine: x.Engine, encoder: x.encoder(&call, re)}
	run.call = call
	if err := x.Server.runs.add(x.HTTP.Context(), run, time.Now()); err != nil {
		return err
	}
	if x.PrefersAsync() {
		x.Writer.Header().Set("Preference-Applied", "respond-async")
	}
	x.Write(&Answer{Status: http.StatusAccepted, Location: x.runAddress(run) + "/status"})
	return nil
}

// PrefersAsync reports whether the client would rather not wait for the end of what it asks (RFC 7240).
func (x *Request) PrefersAsync() bool {
	for _, list := range x.HTTP.Header["Prefer"] {
		for p := range strings.SplitSeq(list, ",") {
			p, _, _ = strings.Cut(p, ";")
			if strings.EqualFold(strings.TrimSpace(p), "respond-async") {
				return true
			}
		}
	}
	return false
}

// absolute completes the address of an object that leads to its result elsewhere.
func absolute(v any, base string) any {
	m, _ := v.(map[string]any)
	at, ok := m["url"].(string)
	if u, err := url.Parse(at); !ok || err != nil || u.IsAbs() || u.Host != "" {
		return v
	}
	m = maps.Clone(m)
	m["url"] = base + "/" + strings.TrimPrefix(at, "/")
	return m
}

// answer is the answer of a run that has ended, as far as the caller may see it now.
func (run *asyncRun) answer(x *Request) (*Answer, error) {
	res, e := run.result, *run.encoder
	if run.command != "" {
		call := engine.Call{Op: bulkStatus, Params: run.commandParams(x), As: x.As, EntryPoint: x.EntryPoint(), RequestID: x.ID, Encode: e.encode}
		var err error
		if res, err = run.engine.Run(x.HTTP.Context(), call); err != nil {
			return nil, err
		}
		return e.answer(res)
	}
	if !res.Replayed {
		call := run.call
		call.As, call.RequestID, call.Encode = x.As, x.ID, e.encode
		var err error
		if res, err = run.engine.Again(x.HTTP.Context(), call, res); err != nil {
			return nil, err
		}
	}
	return e.answer(res)
}

func (x *Request) runAddress(run *asyncRun) string {
	return x.Base() + "/api/v1/automation/" + x.Segments.Get("op") + "/@async/" + run.id
}

// bulkStatus is the operation that tells how far a bulk command is.
const bulkStatus = "Bulk.Get"

func (run *asyncRun) commandParams(x *Request) Values {
	return Values{"commandId": run.command, "base": x.Base()}
}

// asyncRun returns the run that the address names, and whether it has ended: a run that submitted a bulk command has ended when
// the command is.
func (x *Request) asyncRun(fetch bool) (run *asyncRun, over bool, err error) {
	name, err := x.Param("op")
	if err != nil {
		return nil, false, err
	}
	run, over, err = x.Server.runs.of(x.As.Identity(), name, x.Segments.Get("run"), false)
	if err == nil && over && run.command != "" && run.err == nil {
		over, err = run.commandOver(x)
	}
	if err == nil && over && fetch {
		_, _, err = x.Server.runs.of(run.owner, name, run.id, true)
	}
	return run, over, err
}

// commandOver reports whether the bulk command of a run has ended.
func (run *asyncRun) commandOver(x *Request) (bool, error) {
	v, err := x.Value(engine.Call{Op: bulkStatus, Params: run.commandParams(x)})
	m, _ := v.(map[string]any)
	return m["state"] == "COMPLETED" || m["state"] == "ABORTED", err
}

// AsyncStatus says whether a run has ended: then the result is elsewhere.
func AsyncStatus(x *Request) error {
	run, over, err := x.asyncRun(false)
	if err != nil {
		return err
	}
	if over {
		x.Write(&Answer{Status: http.StatusSeeOther, Location: x.runAddress(run)})
		return nil
	}
	x.Writer.Header().Set("Retry-After", askAgain)
	return x.JSON(http.StatusOK, "RUNNING")
}

// AsyncEvents streams the states of a run until it has ended; the last says where its result is.
func AsyncEvents(x *Request) error {
	return x.Stream("run", func() (Progress, error) {
		if err := x.Engine.Stands(x.HTTP.Context(), x.As); err != nil {
			return Progress{}, err
		}
		run, over, err := x.asyncRun(false)
		if err != nil {
			return Progress{}, err
		}
		now := asyncState{ID: run.id, Op: run.op, State: engine.RunRuns}
		if over {
			if now.State, now.Result = "over", x.runAddress(run); run.err != nil {
				now.State, now.Code = engine.RunFailed, fault.Word(run.err)
			}
		}
		body, err := json.Marshal(now)
		return Progress{Mark: now.State, Body: body, Over: over}, err
	})
}

// asyncState is what an event says of an asynchronous run.
type asyncState struct {
	ID     string `json:"id"`
	Op     string `json:"op"`
	State  string `json:"state"` // running, failed or over
	Code   string `json:"code,omitempty"`
	Result string `json:"result,omitempty"` // where it is
}

// AsyncResult answers as the call would have, until the result expires.
func AsyncResult(x *Request) error {
	run, over, err := x.asyncRun(x.HTTP.Method != http.MethodHead)
	if err != nil {
		return err
	}
	if !over {
		x.Writer.Header().Set("Retry-After", askAgain)
		return x.JSON(http.StatusAccepted, "RUNNING")
	}
	if run.err != nil {
		x.failed(run.err, innerMessage(run.err))
		return nil //nolint:nilerr // the error is the answer
	}
	a, err := run.answer(x)
	if err != nil {
		return err
	}
	x.Write(a)
	return nil
}

// AsyncAbort stops a run, or forgets one that has ended.
func AsyncAbort(x *Request) error {
	run, over, err := x.asyncRun(false)
	if err != nil {
		return err
	}
	if !over && run.command != "" {
		if _, err := x.Value(engine.Call{Op: "Bulk.Abort", Params: run.commandParams(x)}); err != nil {
			return err
		}
	} else if !over {
		if err := x.Engine.EndRun(x.As, run.id); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	x.Server.runs.remove(run.id)
	return x.NoContent()
}
