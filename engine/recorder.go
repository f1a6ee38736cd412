package engine

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
)

// recorder takes calls that went well over from those who made them, and writes many at once; also calls that failed, if the store did
// not keep them at once. Nobody waits for it: what comes while too much waits is not recorded, which is counted.
type recorder struct {
	rate

	mu     sync.Mutex
	queue  []*recorded // what waits, and what is being packed, oldest first
	taken  int         // how many of them are
	packed []batch     // what waits to be written, oldest first
	runs   int         // of all batches
	bytes  int         // of all of it, about
	some   chan struct{}

	oneVersion func(context.Context) bool
	looked     time.Time // oneVersion was asked, last
	blocks     bool      // what it said

	texts, calls             atomic.Int64 // that could have been recorded: chains and the like, other operations
	written, dropped, beyond atomic.Int64
}

// recorded is a call that is to be written.
type recorded struct {
	e      *Engine
	run    history.Run
	asked  *asked
	trace  *Trace
	slab   *[stepRoom]Trace // where steps of it are, if nobody else sees them
	failed *EndedDetails    // of one that failed, which needs no asked and no trace
	size   int
}

// details are what is kept of the call besides what lists show.
func (w *recorded) details(most int) EndedDetails {
	if w.failed != nil {
		return *w.failed
	}
	return w.asked.details(w.trace, most)
}

// batch is what is written together: runs that went well in a block, or as they are, or one that failed.
type batch struct {
	repo  *storage.Repo
	block history.Block
	plain []*recorded
	tries int
}

func (b *batch) len() int { return b.block.Len() + len(b.plain) }

func (b *batch) size() int {
	n := b.block.Size()
	for _, w := range b.plain {
		n += w.size
	}
	return n
}

// write writes the batch: what is not in a block goes into rows, since servers of another version share the store.
func (b *batch) write(tx *storage.Tx) error {
	if len(b.plain) == 0 {
		return history.Keep(tx, []history.Block{b.block})
	}
	w := b.plain[0]
	if w.failed != nil {
		return w.e.keepFailed(tx, w.run, *w.failed)
	}
	ended := make([]history.Ended, len(b.plain))
	for i, w := range b.plain {
		ended[i] = history.Ended{Run: w.run, Details: w.details(w.e.limits.RunSize)}
	}
	return history.KeepRows(tx, ended)
}

const (
	maxWaitingRuns = 16 << 20 // bytes of all runs that wait to be written
	runBatch       = 200      // runs that are packed at once
	maxWrite       = 1 << 20  // bytes of the blocks that one transaction writes, unless one block is larger
	runPause       = 250 * time.Millisecond
	runRetry       = 2 * time.Second // after the store could not be written to
	runTries       = 20
	packPause      = 10 * time.Millisecond // after which runs are packed, so that their traces do not fill memory
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
	if r.def.Version == 0 && !r.detached && r.whole == nil && r.args.EntryPoint != Listener { // a hook whose sender waits is one
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
	if r.alone() {
		w.slab, r.slab = r.slab, nil
	}
	w.run.Expires = r.e.now().Add(l.KeepRuns).UTC().Truncate(time.Second)
	w.size = len(w.asked.input) + len(w.asked.params) + len(w.asked.context) + w.trace.size()
	rec.add(w, l.RunQueue)
}

// add has a call wait to be written, unless too many or too much of them do.
func (rec *recorder) add(w *recorded, most int) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if len(rec.queue)+rec.runs >= most || rec.bytes+w.size > maxWaitingRuns {
		rec.dropped.Add(1)
		giveBack(w.slab)
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

// waiting returns those that are not written yet, as the caller of a transaction may see them.
func (rec *recorder) waiting(tx *storage.Tx, want func(run *EndedRun) bool) (out []EndedRun, err error) {
	take := func(run *EndedRun) {
		if run.SeenBy(tx) && want(run) {
			run.Hide(tx)
			out = append(out, *run)
		}
	}
	rec.mu.Lock()
	for w := range rec.plain() {
		run := w.run
		take(&run)
	}
	packed := slices.Clone(rec.packed)
	rec.mu.Unlock()
	for i := range packed { // outside the lock: calls do not wait for their decompression
		runs, err := packed[i].block.Runs()
		if err != nil {
			return nil, err
		}
		for j := range runs {
			take(&runs[j])
		}
	}
	return out, nil
}

// plain are those that are not in a block; mu is held.
func (rec *recorder) plain() iter.Seq[*recorded] {
	return func(yield func(*recorded) bool) {
		for _, w := range rec.queue {
			if !yield(w) {
				return
			}
		}
		for _, b := range rec.packed {
			for _, w := range b.plain {
				if !yield(w) {
					return
				}
			}
		}
	}
}

// detailsOf returns one of those that are not written yet.
func (rec *recorder) detailsOf(id string, most int) (run EndedRun, d EndedDetails, found bool, err error) {
	run, d, found, packed := rec.plainDetails(id, most)
	for i := 0; !found && err == nil && i < len(packed); i++ {
		run, d, found, err = packed[i].block.Run(id)
	}
	return run, d, found, err
}

// plainDetails returns one of those that are not in a block, or else the batches that may have it.
func (rec *recorder) plainDetails(id string, most int) (run EndedRun, d EndedDetails, found bool, packed []batch) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for w := range rec.plain() {
		if w.run.ID == id {
			return w.run, w.details(most), true, nil
		}
	}
	return run, d, false, slices.Clone(rec.packed)
}

// take begins to pack the oldest of what waits, of one repository: runs that went well, or one that failed.
func (rec *recorder) take() []*recorded {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for rec.taken < min(len(rec.queue), runBatch) && rec.queue[rec.taken].e.repo == rec.queue[0].e.repo {
		failed := rec.queue[rec.taken].failed != nil
		if failed && rec.taken > 0 {
			break
		}
		if rec.taken++; failed {
			break
		}
	}
	return slices.Clone(rec.queue[:rec.taken])
}

// pack is the end of what take began.
func (rec *recorder) pack(all []batch) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, w := range rec.queue[:rec.taken] {
		rec.bytes -= w.size
	}
	rec.queue = slices.Delete(rec.queue, 0, rec.taken)
	rec.taken = 0
	for _, b := range all {
		rec.packed = append(rec.packed, b)
		rec.runs, rec.bytes = rec.runs+b.len(), rec.bytes+b.size()
	}
}

// first are the first batches that are written in one transaction: blocks of one repository, or another one. They still wait.
func (rec *recorder) first() (all []batch) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	size := 0
	for i, b := range rec.packed {
		if size += b.size(); i > 0 && (b.repo != all[0].repo || len(b.plain)+len(all[0].plain) > 0 || size > maxWrite) {
			break
		}
		all = append(all, b)
	}
	return all
}

// settle is the end of what first returned. What could not be written is tried again some times, which later says.
func (rec *recorder) settle(all []batch, err error) (later bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if err != nil && !fault.Is(err, fault.Internal) && rec.packed[0].tries < runTries {
		rec.packed[0].tries++
		return true
	}
	runs := 0
	for _, b := range all {
		runs, rec.bytes = runs+b.len(), rec.bytes-b.size()
	}
	if rec.runs -= runs; err == nil {
		rec.written.Add(int64(runs))
	} else {
		rec.dropped.Add(int64(runs))
	}
	rec.packed = slices.Delete(rec.packed, 0, len(all))
	return false
}

// RecordRuns writes what the calls of all repositories hand over until ctx ends, and then what is left. What is not written is lost if
// the server is killed: what ended within the last quarter of a second. OneVersion reports whether
// all servers of the store are of this version; nil: there are no others.
func (e *Engine) RecordRuns(ctx context.Context, oneVersion func(context.Context) bool) error {
	rec := &e.recorder
	rec.oneVersion = oneVersion
	for again := (<-chan time.Time)(nil); ; {
		some := rec.some
		if again != nil {
			some = nil // what comes meanwhile does not have the store tried more often
		}
		select {
		case <-ctx.Done():
			e.writeRuns(context.WithoutCancel(ctx))
			return nil
		case <-again:
		case <-some:
		}
		// Others come meanwhile, and are written in the same transaction.
		for end := time.Now().Add(runPause); time.Now().Before(end) && ctx.Err() == nil && !rec.crowded(e.limits.RunQueue); {
			time.Sleep(packPause)
			e.packRuns(ctx)
		}
		if again = nil; e.writeRuns(context.WithoutCancel(ctx)) {
			again = time.After(runRetry)
		}
	}
}

// crowded reports whether so many runs wait that they are written at once.
func (rec *recorder) crowded(most int) bool {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return len(rec.queue)+rec.runs > most/2
}

// packRuns packs what waits into blocks, if all servers of the store read them.
func (e *Engine) packRuns(ctx context.Context) {
	rec := &e.recorder
	for {
		runs := rec.take()
		if len(runs) == 0 {
			return
		}
		repo := runs[0].e.repo
		if runs[0].failed != nil || !rec.readBlocks(ctx) {
			rec.pack([]batch{{repo: repo, plain: runs}})
			continue
		}
		ended := make([]history.Ended, len(runs))
		for i, w := range runs {
			t, start := w.trace, w.run.Start
			ended[i] = history.Ended{Run: w.run, Details: w.asked.details(nil, e.limits.RunSize)}
			if t != nil {
				if w.size > e.limits.RunSize { // it takes more in memory than as JSON
					t = t.within(e.limits.RunSize)
				}
				ended[i].Steps = func(p *history.Packer) { t.pack(p, start) }
			}
		}
		var all []batch
		for _, b := range history.Pack(ended) {
			all = append(all, batch{repo: repo, block: b})
		}
		rec.pack(all)
		for _, w := range runs { // nobody reads their traces any longer
			giveBack(w.slab)
		}
	}
}

// writeRuns writes what waits. Later says that the rest is to be tried again.
func (e *Engine) writeRuns(ctx context.Context) (later bool) {
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	rec := &e.recorder
	e.packRuns(ctx)
	for !later {
		all := rec.first()
		if len(all) == 0 {
			return false
		}
		repo := all[0].repo
		err := repo.Update(ctx, repo.System(), func(tx *storage.Tx) error {
			for i := range all {
				if err := all[i].write(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if later = rec.settle(all, err); err != nil && !later {
			e.log.Warn("runs are not recorded", "error", err)
		}
	}
	return later
}

// askedFor is how long it is not asked again what servers share the store.
const askedFor = 5 * time.Second

// readBlocks reports whether all servers of the store read blocks.
func (rec *recorder) readBlocks(ctx context.Context) bool {
	if rec.oneVersion == nil {
		return true
	}
	if now := time.Now(); now.Sub(rec.looked) >= askedFor {
		rec.looked, rec.blocks = now, rec.oneVersion(ctx)
	}
	return rec.blocks
}

// Asked is what a caller sent besides RawParams, as it came.
type Asked struct {
	Input   json.RawMessage // JSON; nil: none, or found otherwise
	Context json.RawMessage // a JSON object; nil: none
	Repeats string          // id of the failed run that the call makes again
	Began   string          // id of the run that began the chain which the call goes on with
}

// failures bounds how often failed runs are written.
type failures struct {
	turn chan struct{} // holds one: they are written one after the other, as each looks at what is there
	rate
}

// rate bounds what is kept of an owner in a minute.
type rate struct {
	mu     sync.Mutex
	minute time.Time
	counts map[string]int // of this minute, by owner
}

// admit reports whether one more of an owner is to be kept.
func (f *rate) admit(owner string, most int, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil || now.Sub(f.minute) >= time.Minute {
		f.minute, f.counts = now, map[string]int{}
	}
	f.counts[owner]++
	return f.counts[owner] <= most
}

// maxFailureError bounds the message of a failed run that is kept.
const maxFailureError = 2000

// keepTime bounds how long a caller waits for its turn, and for the store, to keep its failed run. If that is not enough, or the store is
// why the call failed, the recorder does it later.
const keepTime = 5 * time.Second

// keepFailure keeps a call that failed if a caller from outside made it in earnest, was allowed to, and the operation
// began: calls of unknown operations, or without the permission, do not count as runs. Anyone who may only read leaves nothing behind.
func (e *Engine) keepFailure(r *running, err error) {
	call := &r.args
	if call.Asked == nil || call.DryRun || call.As.ReadOnly || r.ops == 0 || fault.Is(err, fault.Denied) || namesNothing(err) {
		return
	}
	owner := r.whose()
	if !e.failures.admit(owner.Identity(), e.limits.FailedRate, time.Now()) {
		return
	}
	f := r.ended()
	f.Internal, f.Code, f.Error, f.Expires = fault.Is(err, fault.Internal), fault.Word(err), r.shown(fault.Of(err).Explain(err.Error()), maxFailureError), e.now().Add(e.limits.KeepFailed).UTC()
	f.StoppedBy = r.end.brokenOff()
	d := r.asking().details(r.res.Trace, e.limits.FailedSize)
	if !fault.Is(err, fault.Unavailable) {
		err = e.writeFailed(r.end.Context, &f, &d)
	}
	if err != nil {
		e.log.Warn("a failed run is not kept yet", "run", f.ID, "operation", f.Op, "error", err)
		e.recorder.add(&recorded{e: e, run: f, failed: &d, size: len(f.Error) + len(d.Input) + len(d.Params) + len(d.Context) + len(d.Trace)}, e.limits.RunQueue)
	}
}

// writeFailed writes a failed run now.
func (e *Engine) writeFailed(ctx context.Context, f *EndedRun, d *EndedDetails) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	select {
	case e.failures.turn <- struct{}{}:
	case <-ctx.Done(): // those before have waited for the store as long
		return ctx.Err()
	}
	defer func() { <-e.failures.turn }()
	return e.repo.Update(ctx, e.System(), func(tx *storage.Tx) error { return e.keepFailed(tx, *f, *d) })
}

func (e *Engine) keepFailed(tx *storage.Tx, f EndedRun, d EndedDetails) error {
	return history.KeepFailed(tx, f, d, history.Limits{All: e.limits.Failed, User: e.limits.UserFailed})
}

// namesNothing reports whether a call failed because its input, or what a parameter names, is not there.
func namesNothing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Stage == StageInput && fault.Is(err, fault.NotFound)
}
