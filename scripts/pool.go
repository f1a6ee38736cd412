package scripts

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/fault"
	"catena/storage/limit"
)

// idleTime is how long a worker waits for work before it ends.
const idleTime = time.Minute

// deployed owns the workers that run deployed scripts. Their sources are the
// administrators', so they serve every caller.
const deployed = "\x00deployed"

// pool keeps worker processes: spares, which have run nothing yet, and idle ones, which
// serve again the owner whose scripts they ran: the principal who sent the text, or
// deployed. A worker that did not end its run cleanly is never used again. There are none
// before the first script, nor when no script has run for a while.
type pool struct {
	argv   []string
	limits Limits
	log    *slog.Logger

	mu      sync.Mutex
	spares  []*process
	idle    []*process
	working map[*process]bool
	filling bool
	broken  error // why the last worker did not start
	closed  bool
	reaper  *time.Timer
	crowded atomic.Uint32 // 1: more scripts run than there are processors for both sides of each
}

func newPool(argv []string, l Limits, log *slog.Logger) *pool {
	return &pool{argv: argv, limits: l, log: log, working: map[*process]bool{}}
}

// take returns a worker for a script of the owner.
func (p *pool) take(owner string) (*process, error) {
	p.mu.Lock()
	w := p.ready(owner)
	p.refill()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return nil, fault.Unavailable.Errorf("script: the server is stopping").WithCode(fault.CodeScriptBusy)
	}
	if w == nil {
		var err error
		// Outside of the lock: starting a process takes milliseconds, in which others return theirs.
		if w, err = startProcess(p.argv); err != nil {
			p.mu.Lock()
			p.broken = err
			p.mu.Unlock()
			return nil, err
		}
	}
	w.owner = owner
	p.mu.Lock()
	p.working[w] = true
	p.count()
	// The pool was closed while the process started.
	if p.closed {
		w.Kill()
	}
	if w.link != nil {
		w.link.crowd = &p.crowded
		w.link.own.crowded.Store(p.crowded.Load())
	}
	p.mu.Unlock()
	return w, nil
}

// count notes whether scripts crowd each other. The pool is locked.
func (p *pool) count() {
	if len(p.working) > limit.Processors {
		p.crowded.Store(1)
	} else {
		p.crowded.Store(0)
	}
}

// ready takes out an idle worker of the owner, else a spare, else nil. The pool is locked.
func (p *pool) ready(owner string) *process {
	// The one used last, whose memory is most likely still in the caches of the processor.
	for i := len(p.idle) - 1; i >= 0; i-- {
		if w := p.idle[i]; w.owner == owner {
			p.idle = slices.Delete(p.idle, i, i+1)
			if w.Alive() {
				return w
			}
		}
	}
	// A spare has run nothing, so it may serve any owner; from then on it serves that one only.
	for len(p.spares) > 0 {
		w := p.spares[0]
		p.spares = slices.Delete(p.spares, 0, 1)
		if w.Alive() {
			return w
		}
	}
	return nil
}

// give takes a worker back; only a clean one is kept.
func (p *pool) give(w *process, clean bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.working, w)
	p.count()
	p.refill()
	if !clean || p.closed || !w.Alive() {
		w.Kill()
		return
	}
	w.used = time.Now()
	p.idle = append(p.idle, w)
	// With many owners, each would otherwise keep a process for a minute.
	if len(p.idle) > p.limits.Workers {
		p.idle[0].Kill()
		p.idle = slices.Delete(p.idle, 0, 1)
	}
	p.reapLater()
}

// reapLater sees to it that workers without work end. The pool is locked.
func (p *pool) reapLater() {
	if p.reaper == nil && !p.closed {
		p.reaper = time.AfterFunc(idleTime, p.reap)
	}
}

// reap ends workers that have had no work for a while.
func (p *pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaper = nil
	old := func(w *process) bool {
		if time.Since(w.used) < idleTime {
			return false
		}
		w.Kill()
		return true
	}
	p.idle = slices.DeleteFunc(p.idle, old)
	if len(p.idle) == 0 && len(p.working) == 0 {
		p.spares = slices.DeleteFunc(p.spares, old)
	}
	if len(p.idle)+len(p.spares)+len(p.working) > 0 {
		p.reapLater()
	}
}

// state returns why the last worker did not start, or nil. After a failure it tries again.
func (p *pool) state() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		p.refill()
	}
	return p.broken
}

func (p *pool) workers() Workers {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Workers{Busy: len(p.working), Idle: len(p.idle), Spare: len(p.spares)}
}

// refill starts spares in the background, one after the other. The pool is locked.
func (p *pool) refill() {
	if p.filling || p.closed || len(p.argv) == 0 || len(p.spares) >= p.limits.Spares {
		return
	}
	p.filling = true
	go p.fill()
}

func (p *pool) fill() {
	for more := true; more; {
		w, err := startProcess(p.argv)
		p.mu.Lock()
		p.broken = err
		switch {
		case err != nil:
			p.log.Error("starting a script worker", "error", err)
			more = false
		case p.closed:
			w.Kill()
			more = false
		default:
			p.spares = append(p.spares, w)
			p.reapLater()
			more = len(p.spares) < p.limits.Spares
		}
		p.filling = more
		p.mu.Unlock()
	}
}

// close ends every worker; runs under way fail.
func (p *pool) close() error {
	p.mu.Lock()
	p.closed = true
	all := append(p.spares, p.idle...)
	for w := range p.working {
		all = append(all, w)
	}
	p.spares, p.idle = nil, nil
	if p.reaper != nil {
		p.reaper.Stop()
	}
	p.mu.Unlock()
	var errs []error
	for _, w := range all {
		w.Kill()
		select {
		case <-w.Ended():
		// A killed process ends at once unless the system is in trouble; the server must stop all the same.
		case <-time.After(time.Second):
			errs = append(errs, fault.Internal.Errorf("script worker %d does not end", w.PID()))
		}
	}
	return errors.Join(errs...)
}
