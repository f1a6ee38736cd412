package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/history"
)

// live are the calls that are being carried out, in the order they began.
type live struct {
	// server is random and part of ids, so that calls of two servers of a store which begin at the same moment have different ones.
	server string

	mu          sync.Mutex
	first, last *running
	number      uint64 // of the last that began
	moment      int64  // when it began
}

// Live is a call that is being carried out.
type Live struct {
	ID         string
	Op         string // the operation or chain
	User       string // for whom
	EntryPoint EntryPoint
	Repository string
	Request    string     // id of the request it came with; "" without
	Remote     netip.Addr // of the client; the zero value if there is none
	Repeats    string     // id of the failed run that it makes again; "" if it does not
	Began      string     // id of the run that began the chain which it goes on with; "" if it does not
	Start      time.Time
	Whose      storage.Owned // who may see it besides administrators
	ReadOnly   bool          // it may not write
}

func newLive() *live { return &live{server: fmt.Sprintf("%06x", rand.N[uint32](1<<24))} }

func (l *live) add(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.number++
	l.moment = max(l.moment, r.began.UnixMilli())
	r.moment = l.moment
	if r.number, r.before = l.number, l.last; r.before != nil {
		r.before.next = r
	} else {
		l.first = r
	}
	l.last = r
}

func (l *live) remove(r *running) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.before != nil {
		r.before.next = r.next
	} else {
		l.first = r.next
	}
	if r.next != nil {
		r.next.before = r.before
	} else {
		l.last = r.before
	}
	r.before, r.next = nil, nil
}

// id is when the call began, in milliseconds, so that ids of all servers are in the order of time, then the server, and the number
// in at least ten digits, all of them hexadecimal. Those of one server are in order whatever its clock does.
func (l *live) id(r *running) string {
	var room, number [40]byte
	digits := strconv.AppendUint(number[:0], r.number, 16)
	b := append(strconv.AppendInt(room[:0], r.moment, 16), l.server...)
	b = append(append(b, '-'), "0000000000"[:max(0, 10-len(digits))]...)
	return string(append(b, digits...))
}

// find returns the call of an id, nil if it has ended; mu is held.
func (l *live) find(id string) *running {
	_, text, _ := strings.Cut(id, "-")
	number, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return nil
	}
	for r := l.first; r != nil; r = r.next {
		if r.number == number && l.id(r) == id {
			return r
		}
	}
	return nil
}

// whose is whom a call is for; of the server's own, who caused it.
func (r *running) whose() storage.Owned {
	if r.args.For.Owner != "" {
		return r.args.For
	}
	return storage.OwnedBy(r.args.As)
}

// seenBy reports whether somebody may know of the call: administrators of all, others of their own. One for nobody,
// which is about to be refused, is seen by nobody.
func (r *running) seenBy(p *Principal) bool {
	return r.args.As != nil && (p.Admin || r.whose() == storage.OwnedBy(p))
}

func (l *live) show(r *running) Live {
	out := Live{
		ID: l.id(r), Op: r.def.Name, User: r.whose().Owner, EntryPoint: r.args.EntryPoint, Repository: r.e.repoName(),
		Request: r.args.RequestID, Remote: r.args.Remote, Start: r.began, Whose: r.whose(), ReadOnly: r.args.As.ReadOnly,
	}
	if r.args.Asked != nil {
		out.Repeats, out.Began = r.args.Asked.Repeats, r.args.Asked.Began
	}
	return out
}

func (e *Engine) repoName() string {
	if e.repo == nil {
		return ""
	}
	return e.repo.Name()
}

// Running lists the calls that are being carried out, in all repositories, oldest first: all of them for
// administrators, their own for others.
func (e *Engine) Running(as *Principal) []Live {
	l := e.live
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Live
	for r := l.first; r != nil; r = r.next {
		if r.seenBy(as) {
			out = append(out, l.show(r))
		}
	}
	return out
}

// RunningCall returns one of them. It is an error of kind NotFound if it has ended, or is not for the caller to see.
func (e *Engine) RunningCall(as *Principal, id string) (Live, error) {
	l := e.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.find(id); r != nil && r.seenBy(as) {
		return l.show(r), nil
	}
	return Live{}, noRun(id)
}

func errReadOnlyKey(id string) error {
	return fault.Denied.Errorf("run %s: the key is read-only", id).WithCode(fault.CodeInsufficientScope)
}

func noRun(id string) error { return fault.NotFound.Errorf("run %s", id) }

// EndRun ends a call that is being carried out: what it has written is undone, and the caller is told by
// whom. A call that commits at this moment goes well. Anyone who may only read ends no call that may write.
func (e *Engine) EndRun(as *Principal, id string) error {
	l := e.live
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.find(id)
	switch {
	case r == nil || !r.seenBy(as):
		return noRun(id)
	case as.ReadOnly && !r.args.As.ReadOnly:
		return errReadOnlyKey(id)
	}
	r.end.breakOff(as.Name)
	if r.whole != nil {
		r.whole.breakOff(as.Name)
	}
	return nil
}

// begin has the call be seen, and its time run.
func (r *running) begin(ctx context.Context) {
	r.call, r.limit = &r.args, r.e.limits.Time
	if t := r.args.Timeout; t > 0 && t < r.limit {
		r.limit = t
	}
	r.began = time.Now()
	r.end.Context, r.end.at, r.end.run = ctx, r.began.Add(r.limit), r
	if s := r.e.spans.Load(); s != nil {
		r.beginSpan(*s)
	}
	r.e.live.add(r)
}

// finish is the end of what begin began; err is why the call failed.
func (r *running) finish(err error) {
	r.e.live.remove(r)
	r.end.stop()
	if r.whole != nil {
		r.whole.stop()
	}
	r.endSpan(err)
}

// reason is why the call failed, if that is not for err itself: somebody ended it, or its time was over.
func (r *running) reason(err error) error {
	if by := r.end.brokenOff(); by != "" {
		return fault.Conflict.Errorf("run %s: was canceled by %s", r.e.live.id(r), by).WithCode(fault.CodeRunEnded)
	}
	return r.end.overdue(err, r.limit)
}

// Start begins a call and returns its id at once; done is told how it ended. Begun is called with the id before anything
// is carried out, and an error of it ends the call.
func (e *Engine) Start(ctx context.Context, call Call, begun func(id string) error, done func(*Result, error)) (id string, err error) {
	r, err := e.prepare(ctx, call)
	if err != nil {
		return "", err
	}
	r.detached = true
	r.begin(ctx)
	id = e.live.id(r)
	if err := begun(id); err != nil {
		r.finish(err)
		return "", err
	}
	go func() {
		var res *Result
		var err error = fault.Internal.Errorf("panic")
		defer func() {
			if p := recover(); p != nil {
				e.log.Error("panic", slog.Any("panic", p), slog.String("operation", call.Op),
					slog.String("requestId", call.RequestID), slog.String("traceId", r.distributed().ID), slog.String("stack", string(debug.Stack())))
			}
			done(res, err)
		}()
		res, err = r.carryOut()
	}()
	return id, nil
}

// Servers that share a store show each other the calls that have been running for a while, and end those that somebody asks
// another server to end. Nothing is written or read while there are none.
const (
	shareEvery = time.Second
	shownAfter = time.Second
	mostShown  = 200
	sharedKept = 10 * time.Second
	endTable   = "run.end"
	endKept    = time.Minute
)

// wanted is the row of a call that is to end.
type wanted struct {
	At     time.Time
	By     string
	Writer bool // the caller who wants it may do more than read
}

// ShareRuns shows the calls of this server to others, and ends those that others were asked to end, until ctx ends.
func (e *Engine) ShareRuns(ctx context.Context) error {
	t := time.NewTicker(shareEvery)
	defer t.Stop()
	for posted := false; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		lasting := e.lasting(time.Now())
		if len(lasting) == 0 && !posted {
			continue
		}
		var err error
		if posted = len(lasting) > 0; posted {
			err = errors.Join(e.board.Post(ctx, lasting), e.endWanted(ctx))
		} else {
			err = e.board.Post(ctx, nil)
		}
		if err != nil && ctx.Err() == nil {
			e.log.Warn("running calls cannot be shown to other servers", "error", err)
		}
	}
}

// lasting are the calls that have been running for a while.
func (e *Engine) lasting(now time.Time) []Live {
	all := e.Running(e.System())
	for i, l := range all {
		if now.Sub(l.Start) < shownAfter || i == mostShown {
			return all[:i]
		}
	}
	return all
}

// endWanted ends the calls of this server that others were asked to end.
func (e *Engine) endWanted(ctx context.Context) error {
	var over []string
	err := e.repo.View(ctx, e.System(), func(tx *storage.Tx) error {
		over = nil
		for id, raw := range tx.Table(endTable).Scan("", "", false, 0) {
			var w wanted
			if err := json.Unmarshal(raw, &w); err != nil {
				return fault.Internal.Errorf("table %s: row %q: %w", endTable, id, err)
			}
			as := e.System()
			as.Name, as.ReadOnly = w.By, !w.Writer
			if err := e.EndRun(as, id); err == nil || tx.Now().Sub(w.At) > endKept {
				over = append(over, id)
			}
		}
		return tx.Err()
	})
	if err != nil || len(over) == 0 {
		return err
	}
	return e.repo.Update(ctx, e.System(), func(tx *storage.Tx) error {
		for _, id := range over {
			if err := tx.Table(endTable).Delete(id); err != nil {
				return err
			}
		}
		return nil
	})
}

// Elsewhere lists the calls that other servers carry out, as Running does those of this one.
func (e *Engine) Elsewhere(ctx context.Context, as *Principal) (out []Live, err error) {
	if e.board == nil {
		return nil, nil
	}
	err = e.first.View(ctx, e.first.System(), func(tx *storage.Tx) error {
		out, err = e.elsewhere(tx, as)
		return err
	})
	return out, err
}

func (e *Engine) elsewhere(tx *storage.Tx, as *Principal) (out []Live, err error) {
	posted, _, err := cluster.PostedIn[[]Live](tx.As(tx.Repo().System()), e.board)
	for _, all := range posted {
		for _, l := range all {
			if as.Admin || l.Whose.Is(as) {
				out = append(out, l)
			}
		}
	}
	slices.SortFunc(out, func(a, b Live) int { return cmp.Or(a.Start.Compare(b.Start), strings.Compare(a.ID, b.ID)) })
	return out, err
}

// InOrder joins calls of this server and of others, oldest first.
func InOrder(here, elsewhere []Live) []Live {
	all := slices.Concat(here, elsewhere)
	slices.SortStableFunc(all, func(a, b Live) int { return a.Start.Compare(b.Start) })
	return all
}

// FindLive returns the call of an id, nil if it is not there.
func FindLive(all []Live, id string) *Live {
	if i := slices.IndexFunc(all, func(l Live) bool { return l.ID == id }); i >= 0 {
		return &all[i]
	}
	return nil
}

// EndElsewhere has the server that carries out a call end it. It is an error of kind NotFound if no other server does.
func (e *Engine) EndElsewhere(ctx context.Context, as *Principal, id string) error {
	if e.board == nil {
		return noRun(id)
	}
	_, err := e.askElsewhere(ctx, as, id)
	return err
}

func (e *Engine) askElsewhere(ctx context.Context, as *Principal, id string) (l *Live, err error) {
	err = e.first.Update(ctx, e.first.System(), func(tx *storage.Tx) error {
		l, err = e.endElsewhere(tx, as, id)
		return err
	})
	return l, err
}

func (e *Engine) endElsewhere(tx *storage.Tx, as *Principal, id string) (*Live, error) {
	all, err := e.elsewhere(tx, as)
	if err != nil {
		return nil, err
	}
	l := FindLive(all, id)
	switch {
	case l == nil:
		return nil, noRun(id)
	case as.ReadOnly && !l.ReadOnly:
		return nil, errReadOnlyKey(id)
	}
	return l, tx.Table(endTable).Put(id, wanted{At: tx.Now(), By: as.Name, Writer: !as.ReadOnly})
}

// Elsewhere lists the calls that other servers carry out, as the engine's method does, within this call.
func (c *Ctx) Elsewhere() ([]Live, error) {
	if e := c.run.e; e.board == nil || e.repo != e.first {
		return e.Elsewhere(c, c.As)
	}
	return c.run.e.elsewhere(c.Tx, c.As)
}

// EndElsewhere has the server that carries out a call end it, and returns the call. If no other server does, the error is otherwise.
func (c *Ctx) EndElsewhere(id string, otherwise error) (any, error) {
	e := c.run.e
	if e.board == nil {
		return nil, otherwise
	}
	var l *Live
	var err error
	if e.repo == e.first {
		l, err = e.endElsewhere(c.Tx, c.As, id)
	} else {
		l, err = e.askElsewhere(c, c.As, id)
	}
	if err != nil {
		if fault.Is(err, fault.NotFound) {
			err = otherwise
		}
		return nil, err
	}
	s := l.Shown()
	s.State = RunStopped
	return s, nil
}

// KeepEnded keeps a chain that waited and does not go on, with what is kept of the run that began it and in its place. Run says who has
// stopped it, or with what error it has failed.
func (c *Ctx) KeepEnded(run *EndedRun) error {
	e, all := c.run.e, c.Tx.As(c.Tx.Repo().System())
	kept, d, err := e.endedRun(all, run.ID)
	switch {
	case fault.Is(err, fault.NotFound): // it was not recorded
		kept = *run
	case err != nil:
		return err
	default:
		if err := history.ForgetDone(all, run.ID); err != nil {
			return err
		}
		c.After(func(ctx context.Context) error { return e.forgetLate(ctx, run.ID) })
	}
	kept.StoppedBy, kept.Code, kept.Error, kept.Duration = run.StoppedBy, run.Code, run.Error, run.Duration
	kept.Expires = e.now().Add(e.limits.KeepFailed).UTC()
	d.Steps = nil // Trace has them
	return e.keepFailed(all, kept, d)
}

// forgetLate forgets a run that went well and that the recorder was still to write when what it began was stopped.
func (e *Engine) forgetLate(ctx context.Context, id string) error {
	if !e.recorder.forget(id) {
		return nil
	}
	written, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	for written.Err() == nil && e.recorder.forget(id) {
		select {
		case <-written.Done():
		case <-time.After(packPause):
		}
	}
	return e.repo.Update(ctx, e.System(), func(tx *storage.Tx) error { return history.ForgetDone(tx, id) })
}

// forget takes out a run that waits to be written. Late says that it is being written, and may be forgotten after that.
func (rec *recorder) forget(id string) (late bool) {
	rec.mu.Lock()
	for i := rec.taken; i < len(rec.queue); i++ {
		if w := rec.queue[i]; w.run.ID == id {
			rec.bytes -= w.size
			giveBack(w.slab)
			rec.queue = slices.Delete(rec.queue, i, i+1)
			break
		}
	}
	rec.mu.Unlock()
	_, _, late, err := rec.detailsOf(id, 0)
	return late && err == nil
}
