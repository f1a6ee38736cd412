package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/history"
)

// recorder takes calls that went well over from those who made them, and writes many at once. Nobody waits for it: what
// comes while too much waits is not recorded, which is counted.
type recorder struct {
	rate

	mu    sync.Mutex
	queue []*recorded // what waits, and what is being written, oldest first
	bytes int         // of all of it, about
	taken int         // how many of them are being written
	some  chan struct{}

	texts, calls             atomic.Int64 // that could have been recorded: chains and the like, other operations
	written, dropped, beyond atomic.Int64
}

// recorded is a call that is to be written.
type recorded struct {
	e     *Engine
	run   history.Run
	asked *asked
	trace *Trace
	size  int
}

const (
	maxWaitingRuns = 16 << 20 // bytes of all runs that wait to be written
	runBatch       = 200      // runs that one transaction writes
	runPause       = 250 * time.Millisecond
)

// RunCounts are how many runs were written, were not recorded because too many waited, and because their owner made too
// many within a minute.
type RunCounts struct{ Written, Dropped, Beyond int64 }

// RunCounts returns what has become of runs since the start.
func (e *Engine) RunCounts() RunCounts {
	r := &e.recorder
	return RunCounts{r.written.Load(), r.dropped.Load(), r.beyond.Load()}
}

// records decides whether the call is recorded if it goes well. Dry runs and what is done with a key that only reads
// leave nothing behind.
func (r *running) records() bool {
	if r.e.repo == nil || r.args.As == nil || r.args.DryRun || r.args.As.ReadOnly {
		return false
	}
	rec, l := &r.e.recorder, &r.e.limits
	n, share := &rec.texts, l.RunSample
	if r.def.Version == 0 && !r.detached && r.whole == nil {
		if r.args.Asked == nil { // the server's own work for a request
			return false
		}
		n, share = &rec.calls, l.CallSample
	}
	if share <= 0 || share > 1 && n.Add(1)%int64(share) != 0 {
		return false
	}
	if !rec.admit(r.whose().Identity(), l.RunRate, r.began) {
		rec.beyond.Add(1)
		return false
	}
	return true
}

// record hands the call over once it went well.
func (r *running) record() {
	if !r.recording || r.res.Replayed {
		return
	}
	rec, l := &r.e.recorder, &r.e.limits
	w := &recorded{e: r.e, run: r.ended(), asked: r.asking().own(l.RunSize), trace: r.root}
	w.run.Expires = r.e.now().Add(l.KeepRuns).UTC().Truncate(time.Second)
	w.size = len(w.asked.input) + len(w.asked.params) + len(w.asked.context) + w.trace.size()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.queue) >= l.RunQueue || rec.bytes+w.size > maxWaitingRuns {
		rec.dropped.Add(1)
		return
	}
	rec.queue, rec.bytes = append(rec.queue, w), rec.bytes+w.size
	if len(rec.queue) == 1 {
		select {
		case rec.some <- struct{}{}:
		default:
		}
	}
}

// waiting returns those that are not written yet.
func (rec *recorder) waiting(want func(w *recorded) bool) (out []*recorded) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, w := range rec.queue {
		if want(w) {
			out = append(out, w)
		}
	}
	return out
}

// take begins to write the oldest of what waits, of one repository.
func (rec *recorder) take() []*recorded {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for rec.taken < min(len(rec.queue), runBatch) && rec.queue[rec.taken].e.repo == rec.queue[0].e.repo {
		rec.taken++
	}
	return slices.Clone(rec.queue[:rec.taken])
}

// settle is the end of what take began.
func (rec *recorder) settle(err error) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, w := range rec.queue[:rec.taken] {
		rec.bytes -= w.size
	}
	if err == nil {
		rec.written.Add(int64(rec.taken))
	} else {
		rec.dropped.Add(int64(rec.taken))
	}
	rec.queue = slices.Delete(rec.queue, 0, rec.taken)
	rec.taken = 0
}

// RecordRuns writes what the calls of all repositories hand over until ctx ends, and then what is left.
func (e *Engine) RecordRuns(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			e.writeRuns(context.WithoutCancel(ctx))
			return nil
		case <-e.recorder.some:
		}
		// Others come meanwhile, and are written in the same transaction.
		select {
		case <-ctx.Done():
		case <-time.After(runPause):
		}
		e.writeRuns(context.WithoutCancel(ctx))
	}
}

// writeRuns writes what waits.
func (e *Engine) writeRuns(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	for {
		batch := e.recorder.take()
		if len(batch) == 0 {
			return
		}
		ended := make([]history.Ended, len(batch))
		for i, w := range batch {
			ended[i] = history.Ended{Run: w.run, Details: w.asked.details(w.trace, e.limits.RunSize)}
		}
		repo := batch[0].e.repo
		err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error { return history.Keep(tx, ended) })
		if err != nil {
			e.log.Warn("runs are not recorded", "runs", len(batch), "error", err)
		}
		e.recorder.settle(err)
	}
}
