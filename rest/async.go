package rest

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// runs are the asynchronous runs of this server, in memory and bounded. A run belongs to
// whoever started it; to everybody else it does not exist.
type runs struct {
	limits Limits
	ctx    context.Context
	cancel context.CancelFunc
	mu     sync.Mutex
	all    map[string]*asyncRun
}

// asyncRun is one asynchronous run, its answer set once done is closed.
type asyncRun struct {
	id, owner, op string
	cancel        context.CancelFunc
	done          chan struct{}
	answer        *answer
	err           error
	ended         time.Time
}

func newRuns(l Limits) *runs {
	r := &runs{limits: l, all: map[string]*asyncRun{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *runs) close() { r.cancel() }

// add makes room for a run and registers it.
func (r *runs) add(owner, op string, now time.Time) (*asyncRun, context.Context, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := 0
	for id, old := range r.all {
		switch {
		case !old.ended.IsZero() && now.Sub(old.ended) > r.limits.KeepRuns:
			delete(r.all, id)
		case old.owner == owner:
			own++
		}
	}
	if len(r.all) >= r.limits.Runs || own >= r.limits.UserRuns {
		return nil, nil, fault.Unavailable.Errorf("asynchronous runs: %d are waiting, read or delete them first", own).WithCode("runs_full")
	}
	run := &asyncRun{id: rand.Text(), owner: owner, op: op, done: make(chan struct{})}
	ctx, cancel := context.WithCancel(r.ctx)
	run.cancel = cancel
	r.all[run.id] = run
	return run, ctx, nil
}

// end stores what a run returned.
func (r *runs) end(run *asyncRun, a *answer, err error, now time.Time) {
	r.mu.Lock()
	run.answer, run.err, run.ended = a, err, now
	r.mu.Unlock()
	run.cancel()
	close(run.done)
}

// of returns the owner's run with this id, taking it out if it is over and take is set.
func (r *runs) of(owner, op, id string, take bool) (run *asyncRun, over bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	run, ok := r.all[id]
	if !ok || run.owner != owner || run.op != op {
		return nil, false, fault.NotFound.Errorf("asynchronous run %s", id)
	}
	over = !run.ended.IsZero()
	if over && take {
		delete(r.all, id)
	}
	return run, over, nil
}

func (r *runs) remove(id string) {
	r.mu.Lock()
	delete(r.all, id)
	r.mu.Unlock()
}

// invokeAsync starts an operation and says where its status is.
func invokeAsync(x *exchange) error {
	name, err := x.param("op")
	if err != nil {
		return err
	}
	call, re, err := x.automationCall(name, nil)
	if err != nil {
		return err
	}
	e := x.encoder(&call, re)
	run, ctx, err := x.s.runs.add(x.as.Name, name, time.Now())
	if err != nil {
		return err
	}
	go x.s.carryOut(ctx, x.engine, run, call, e)
	x.write(&answer{status: http.StatusAccepted, location: x.runAddress(run) + "/status"})
	return nil
}

// carryOut runs the call of an asynchronous run to its end.
func (s *Handler) carryOut(ctx context.Context, on *engine.Engine, run *asyncRun, call engine.Call, e *encoder) {
	var a *answer
	var err error = fault.Internal.Errorf("panic")
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "panic", p, "operation", call.Op, "requestId", call.RequestID)
		}
		s.runs.end(run, a, err, time.Now())
	}()
	var res *engine.Result
	if res, err = on.Run(ctx, call); err == nil {
		a, err = e.answer(res)
	}
}

func (x *exchange) runAddress(run *asyncRun) string {
	return x.base() + "/api/v1/automation/" + x.ps.get("op") + "/@async/" + run.id
}

func (x *exchange) asyncRun(take bool) (*asyncRun, bool, error) {
	name, err := x.param("op")
	if err != nil {
		return nil, false, err
	}
	return x.s.runs.of(x.as.Name, name, x.ps.get("run"), take)
}

// asyncStatus says whether a run is over: then the result is elsewhere.
func asyncStatus(x *exchange) error {
	run, over, err := x.asyncRun(false)
	if err != nil {
		return err
	}
	if over {
		x.write(&answer{status: http.StatusSeeOther, location: x.runAddress(run)})
		return nil
	}
	return x.json(http.StatusOK, "RUNNING")
}

// asyncResult answers as the call would have, once.
func asyncResult(x *exchange) error {
	run, over, err := x.asyncRun(x.r.Method != http.MethodHead)
	if err != nil {
		return err
	}
	if !over {
		return x.json(http.StatusAccepted, "RUNNING")
	}
	if run.err != nil {
		x.failed(run.err, innerMessage(run.err))
		return nil //nolint:nilerr // the error is the answer
	}
	x.write(run.answer)
	return nil
}

// asyncAbort stops a run, or forgets one that is over.
func asyncAbort(x *exchange) error {
	run, _, err := x.asyncRun(true)
	if err != nil {
		return err
	}
	run.cancel()
	x.s.runs.remove(run.id)
	return x.noContent()
}
