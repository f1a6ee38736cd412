package rest

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/run"
)

// runs are the asynchronous runs of a store, of which this server carries some out.
type runs struct {
	repo   *storage.Repo
	limits run.Limits
	lease  *cluster.Lease
	ctx    context.Context //nolint:containedctx // of the server

	beginning sync.Mutex // one run at a time begins, so that the bounds of this server are exact
	mu        sync.Mutex
	here      map[string]*begun // that this server carries out
	tending   bool
}

// begun is a run that this server carries out.
type begun struct {
	row     run.Run
	engine  *engine.Engine
	encoder *encoder
	dry     bool
	done    func() // lets the store be closed
}

func newRuns(ctx context.Context, repo *storage.Repo, l Limits) *runs {
	return &runs{
		repo: repo, ctx: ctx, lease: cluster.NewLease(repo), here: map[string]*begun{},
		limits: run.Limits{All: l.Runs, User: l.UserRuns, Results: l.UserResults, Keep: l.KeepRuns},
	}
}

var descRuns = prometheus.NewDesc("catena_async_runs", "Asynchronous runs by state: running, on this server, and over, of the whole store and not expired yet.", []string{"state"}, nil)

// Describe says what is counted.
func (r *runs) Describe(to chan<- *prometheus.Desc) { to <- descRuns }

// countTime bounds how long figures wait for the store.
const countTime = 2 * time.Second

// Collect counts the runs. A store that does not answer gives no figure.
func (r *runs) Collect(to chan<- prometheus.Metric) {
	r.mu.Lock()
	running := len(r.here)
	r.mu.Unlock()
	to <- prometheus.MustNewConstMetric(descRuns, prometheus.GaugeValue, float64(running), "running")
	ctx, cancel := context.WithTimeout(r.ctx, countTime)
	defer cancel()
	over := 0
	if err := r.repo.View(ctx, r.repo.System(), func(tx *storage.Tx) (err error) {
		over, err = run.Count(tx)
		return err
	}); err == nil {
		to <- prometheus.MustNewConstMetric(descRuns, prometheus.GaugeValue, float64(over), "over")
	}
}

// update carries out fn in a transaction of the server's own.
func (r *runs) update(ctx context.Context, fn func(tx *storage.Tx) error) error {
	return r.repo.Update(ctx, r.repo.System(), fn)
}

// begin makes room for a run, stores it and begins it. It belongs to the trace of the request that ctx is of.
func (r *runs) begin(ctx context.Context, b *begun, call engine.Call) (id string, err error) {
	r.beginning.Lock()
	defer r.beginning.Unlock()
	keyed := call.IdempotencyKey != ""
	b.dry, b.encoder.keep = call.DryRun, !call.DryRun
	call.Encode = func(c *engine.Ctx, v any) ([]byte, error) {
		// What is read again later, and files, are not encoded now, unless that is kept for an idempotency key.
		if !keyed && (c.Refers(v) || isFiles(v)) {
			return nil, nil
		}
		return b.encoder.encode(c, v)
	}
	call.Ended = func(c *engine.Ctx, res *engine.Result) error {
		out, err := b.result(res)
		if err != nil {
			return err
		}
		return r.settle(c.Tx, b.row.ID, out, nil)
	}
	stored := func(id string) error {
		b.row.ID = id
		if err := r.update(r.ctx, func(tx *storage.Tx) error {
			row := b.row
			return run.Begin(tx, &row, r.lease, r.limits)
		}); err != nil {
			return err
		}
		b.done = run.Hold(r.repo)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.here[id] = b; !r.tending {
			r.tending = true
			go r.tend()
		}
		return nil
	}
	return b.engine.Start(engine.SameTrace(r.ctx, ctx), call, stored, func(res *engine.Result, err error) { r.end(b, res, err) })
}

// settle stores the end of a run. If its result is too large, that is its end.
func (r *runs) settle(tx *storage.Tx, id string, res *run.Result, f *run.Failure) error {
	err := run.End(tx, id, res, f, r.limits)
	var full *run.ErrFull
	if errors.As(err, &full) {
		return run.End(tx, id, nil, failureOf(err), r.limits)
	}
	return err
}

// isFiles reports whether a result is files, which are sent as they are.
func isFiles(v any) bool {
	switch v := v.(type) {
	case *engine.Blob:
		return v != nil
	case engine.Blobs:
		return len(v) > 0
	}
	return false
}

// result is what is kept of what a call has returned.
func (b *begun) result(res *engine.Result) (*run.Result, error) {
	d := res.Durable(b.dry)
	out := &run.Result{Value: d.Value, On: d.On, Docs: d.Docs, Command: commandOf(res.Value)}
	switch {
	case res.Void, d.Value != nil:
	case b.dry:
		a, err := dryAnswer(res)
		if err != nil {
			return nil, err
		}
		if out.Body, err = keep(&kept{Status: a.Status, Mime: a.Mime}, a.Body); err != nil {
			return nil, err
		}
	case isFiles(res.Value):
		if f, ok := res.Value.(*engine.Blob); ok {
			out.Files = engine.Blobs{f}
		} else {
			out.Files, out.List = res.Value.(engine.Blobs), true
		}
	default:
		out.Body = res.Body
	}
	if b.encoder.void && !b.dry {
		out.Value, out.Body, out.Files = nil, nil, nil
	}
	return out, nil
}

// form returns what is written of a result, and by what.
func (e *encoder) form(v any) (any, func([]byte, *engine.Ctx, any, *entity.Options) ([]byte, error)) {
	switch m := v.(type) {
	case map[string]any:
		switch {
		case e.re.Bare:
			return v, entity.AppendValue
		case commandOf(m) != "":
			// As the result of an operation the platform has the status of a command in a member. Its front end reads it
			// there, other clients read the object itself.
			m = maps.Clone(m)
			m["value"] = v
			return m, entity.Append
		}
	case []any:
		if e.re.Bare {
			return v, entity.AppendValue
		}
	}
	return v, entity.Append
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

// failureOf is what is kept of an error.
func failureOf(err error) *run.Failure {
	p := problemOf(err, innerMessage(err))
	body, encoding := json.Marshal(p)
	if encoding != nil {
		body = []byte("{}")
	}
	return &run.Failure{Word: fault.Word(err), Wait: waitOf(err), Problem: body}
}

// settleTime bounds how long the end of a run is tried to be stored once the server stops.
const settleTime = 5 * time.Second

// end stores how a run has ended, if the call's own transaction has not, and tries that as long as the server runs: nobody
// may take it to be running when it is not.
func (r *runs) end(b *begun, res *engine.Result, err error) {
	id := b.row.ID
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.here, id)
		b.done()
	}()
	if err == nil && res.Told {
		return
	}
	var out *run.Result
	if err == nil {
		out, err = b.result(res)
	}
	if err != nil && fault.Of(err) == fault.Internal {
		r.repo.Log().Error("asynchronous run failed", "run", id, "operation", b.row.Op, "error", err)
	}
	for {
		stopped := r.ctx.Err() != nil
		if stored := r.store(id, out, err, stopped); stored == nil || stopped {
			return
		}
		select {
		case <-r.ctx.Done():
		case <-time.After(cluster.Beat):
		}
	}
}

// store stores the end of a run in a transaction of its own. One that has ended with its server is lost.
func (r *runs) store(id string, out *run.Result, failed error, stopped bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), settleTime)
	defer cancel()
	var f *run.Failure
	switch {
	case failed != nil && stopped && fault.Is(failed, fault.Unavailable):
		f = failureOf(run.ErrLost(id))
	case failed != nil:
		f = failureOf(failed)
	}
	err := r.update(ctx, func(tx *storage.Tx) error { return r.settle(tx, id, out, f) })
	if fault.Is(err, fault.Conflict) && fault.CodeOf(err) != 0 { // it was removed, or declared lost
		return nil
	}
	if err != nil {
		r.repo.Log().Warn("the end of an asynchronous run cannot be stored", "run", id, "error", err)
	}
	return err
}

// find returns a run to the one who began it and to administrators. One whose server is lost has ended with that.
func (r *runs) find(ctx context.Context, as *storage.Principal, id string) (found *run.Run, err error) {
	lost := false
	err = r.repo.View(ctx, as, func(tx *storage.Tx) error {
		if found, err = run.Find(tx, id); err == nil {
			lost, err = found.Lost(tx)
		}
		return err
	})
	if err != nil || !lost {
		return found, err
	}
	err = r.update(ctx, func(tx *storage.Tx) (err error) {
		if _, err := run.Lose(tx, id, r.limits, failureOf); err != nil {
			return err
		}
		found, err = run.Find(tx.As(as), id)
		return err
	})
	return found, err
}

// result returns the result of a run.
func (r *runs) result(ctx context.Context, as *storage.Principal, of *run.Run) (res *run.Result, err error) {
	err = r.repo.View(ctx, as, func(tx *storage.Tx) error {
		res, err = of.Load(tx)
		return err
	})
	return res, err
}

// fetched notes that a result is being read, which is written once.
func (r *runs) fetched(ctx context.Context, of *run.Run) error {
	was := false
	err := r.repo.View(ctx, r.repo.System(), func(tx *storage.Tx) (err error) {
		was, err = of.WasFetched(tx)
		return err
	})
	if err != nil || was {
		return err
	}
	return r.update(ctx, of.Fetched)
}

// remove forgets a run; the server that carries it out ends it.
func (r *runs) remove(ctx context.Context, as *storage.Principal, of *run.Run) error {
	return r.update(ctx, func(tx *storage.Tx) error {
		now, err := run.Find(tx.As(as), of.ID)
		if err != nil {
			return err
		}
		return now.Remove(tx.As(as))
	})
}

// cancel has the server that carries a run out end it.
func (r *runs) cancel(ctx context.Context, as *storage.Principal, id string) error {
	return r.update(ctx, func(tx *storage.Tx) error { return run.Cancel(tx.As(as), id) })
}

// tend keeps the lease as long as this server carries out runs, and ends those that were canceled elsewhere.
func (r *runs) tend() {
	canceled, stop := run.Watch(r.repo)
	defer stop()
	t := time.NewTicker(cluster.Beat)
	defer t.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-canceled:
		case <-t.C:
			if r.idle() {
				return
			}
			short, cancel := context.WithTimeout(r.ctx, cluster.Beat)
			if err := r.lease.Renew(short); err != nil && r.ctx.Err() == nil {
				r.repo.Log().Warn("lease of asynchronous runs cannot be renewed", "error", err)
			}
			cancel()
		}
		r.endCanceled()
	}
}

// idle ends the tending if nothing runs here. The lease ends by itself, unless the next run takes it again.
func (r *runs) idle() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tending = len(r.here) > 0
	return !r.tending
}

// endCanceled ends the runs of this server that were canceled or removed.
func (r *runs) endCanceled() {
	r.mu.Lock()
	here := maps.Clone(r.here)
	r.mu.Unlock()
	if len(here) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(r.ctx, cluster.Beat)
	defer stop()
	var ended map[string]string
	err := r.repo.View(ctx, r.repo.System(), func(tx *storage.Tx) (err error) {
		ended, err = run.Canceled(tx, slices.Sorted(maps.Keys(here)))
		return err
	})
	if err != nil && r.ctx.Err() == nil {
		r.repo.Log().Warn("canceled asynchronous runs cannot be found", "error", err)
	}
	for id, by := range ended {
		as := r.repo.System()
		if by != "" {
			as.Name = by
		}
		_ = here[id].engine.EndRun(as, id) // unless it has ended by itself
	}
}
