package scripts

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"catena/storage/fault"
)

// idleTime is how long a worker that has run scripts waits for more of the same principal.
const idleTime = time.Minute

// pool keeps worker processes: fresh ones ready for anybody, used ones for the principal
// whose scripts they ran. A worker that did not end its run cleanly is never used again.
type pool struct {
	argv   []string
	limits Limits
	log    *slog.Logger

	mu      sync.Mutex
	spares  []*process
	idle    []*process
	users   map[string]int // workers at work, by principal
	working map[*process]bool
	busy    int
	waiting int
	freed   chan struct{} // closed and replaced when a worker ends its run
	filling bool
	broken  error // why the last worker did not start
	closed  bool
	reaper  *time.Timer
}

func newPool(argv []string, l Limits, log *slog.Logger) *pool {
	return &pool{argv: argv, limits: l, log: log, users: map[string]int{}, working: map[*process]bool{}, freed: make(chan struct{})}
}

// acquire returns a worker for a run of user's script. It waits for its turn.
func (p *pool) acquire(ctx context.Context, user string) (*process, error) {
	if err := p.enter(ctx, user); err != nil {
		return nil, err
	}
	w := p.take(user)
	if w == nil {
		var err error
		if w, err = startProcess(p.argv); err != nil {
			p.leave(user)
			return nil, err
		}
	}
	w.owner = user
	p.mu.Lock()
	p.working[w] = true
	p.mu.Unlock()
	return w, nil
}

// enter waits until user may have one more worker.
func (p *pool) enter(ctx context.Context, user string) error {
	var late <-chan time.Time
	for first := true; ; first = false {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return fault.Unavailable.Errorf("script: the server is stopping").WithCode(fault.CodeScriptBusy)
		}
		if p.busy < p.limits.Workers && p.users[user] < p.limits.PerUser {
			p.busy++
			p.users[user]++
			p.mu.Unlock()
			return nil
		}
		if first && p.waiting >= p.limits.QueueLimit {
			err := busy("%d others wait", p.waiting)
			p.mu.Unlock()
			return err
		}
		freed := p.freed
		p.waiting++
		p.mu.Unlock()
		if late == nil {
			t := time.NewTimer(p.limits.QueueWait)
			defer t.Stop()
			late = t.C
		}
		err := p.wait(ctx, freed, late)
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func (p *pool) wait(ctx context.Context, freed <-chan struct{}, late <-chan time.Time) error {
	select {
	case <-freed:
		return nil
	case <-late:
		return busy("none became free within %s", p.limits.QueueWait)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func busy(format string, args ...any) error {
	return fault.Unavailable.Errorf("script: every worker is at work, "+format, args...).WithCode(fault.CodeScriptBusy)
}

// take returns an idle worker of the user, else a fresh one, else nil.
func (p *pool) take(user string) *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer p.refill()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if w := p.idle[i]; w.owner == user {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			if w.Alive() {
				return w
			}
		}
	}
	for len(p.spares) > 0 {
		w := p.spares[0]
		p.spares = p.spares[1:]
		if w.Alive() {
			return w
		}
	}
	return nil
}

// release gives a worker back; only a clean one is kept.
func (p *pool) release(w *process, user string, clean bool) {
	p.mu.Lock()
	delete(p.working, w)
	keep := clean && !p.closed && w.Alive()
	if keep {
		w.used = time.Now()
		p.idle = append(p.idle, w)
		if len(p.idle) > p.limits.Workers {
			p.idle[0].Kill()
			p.idle = p.idle[1:]
		}
		if p.reaper == nil {
			p.reaper = time.AfterFunc(idleTime, p.reap)
		}
	}
	p.refill()
	p.mu.Unlock()
	if !keep {
		w.Kill()
	}
	p.leave(user)
}

func (p *pool) leave(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy--
	if p.users[user]--; p.users[user] == 0 {
		delete(p.users, user)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

// reap ends workers that nobody wanted for a while.
func (p *pool) reap() {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.idle[:0]
	for _, w := range p.idle {
		if time.Since(w.used) < idleTime {
			kept = append(kept, w)
		} else {
			w.Kill()
		}
	}
	p.idle, p.reaper = kept, nil
	if len(kept) > 0 && !p.closed {
		p.reaper = time.AfterFunc(idleTime, p.reap)
	}
}

// ready returns why no worker can be started, or nil. It tries again at the next call.
func (p *pool) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill()
	return p.broken
}

// Workers are the worker processes by what they do.
type Workers struct {
	Busy    int // run a script
	Idle    int // wait for more of the same caller
	Spare   int // are ready for anybody
	Waiting int // callers without one
}

func (p *pool) workers() Workers {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Workers{Busy: p.busy, Idle: len(p.idle), Spare: len(p.spares), Waiting: p.waiting}
}

func (p *pool) warm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill()
}

// refill starts fresh workers in the background, one after the other. The pool is locked.
func (p *pool) refill() {
	if p.filling || p.closed || len(p.argv) == 0 || len(p.spares) >= p.limits.Spares {
		return
	}
	p.filling = true
	go p.fill()
}

func (p *pool) fill() {
	for {
		w, err := startProcess(p.argv)
		p.mu.Lock()
		p.broken = err
		if err != nil || p.closed {
			p.filling = false
			p.mu.Unlock()
			if err != nil {
				p.log.Error("starting a script worker", "error", err)
			} else {
				w.Kill()
			}
			return
		}
		p.spares = append(p.spares, w)
		if len(p.spares) >= p.limits.Spares {
			p.filling = false
			p.mu.Unlock()
			return
		}
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
	close(p.freed)
	p.freed = make(chan struct{})
	p.mu.Unlock()
	var errs []error
	for _, w := range all {
		w.Kill()
		select {
		case <-w.Ended():
		case <-time.After(time.Second):
			errs = append(errs, fault.Internal.Errorf("script worker %d does not end", w.PID()))
		}
	}
	return errors.Join(errs...)
}
