package scripts

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/fault"
)

// hookHost calls a function before each operation.
type hookHost struct {
	*fakeHost
	before func(n int)
	n      int
}

func (h *hookHost) call(op string, in any, params map[string]any, line int) (any, error) {
	h.n++
	h.before(h.n)
	return h.fakeHost.call(op, in, params, line)
}

// TestCrash kills the worker during one call after the other: every run ends with its own
// error, and the pool has a worker for the next one.
func TestCrash(t *testing.T) {
	r := New(Options{Worker: self(), Limits: Limits{Spares: 2}})
	defer r.Close()
	n := newNames(fakeOps, fakeReads...)
	const source = "for (let i = 0; i < 20; i++)\n Noop(i)"
	for at := 1; at <= 20; at++ {
		h := &hookHost{fakeHost: newFakeHost()}
		h.before = func(n int) {
			if n == at {
				r.killAll()
			}
		}
		_, err := r.submit(context.Background(), "bob", h, n, newJob("t.js", source, false), nil, nil)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.CodeScriptCrash || f.Kind != fault.Limit || f.Line != 2 {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		if h.n != at {
			t.Errorf("killed at call %d: %d calls were made", at, h.n)
		}
		started := time.Now()
		if v, err := r.submit(context.Background(), "bob", newFakeHost(), n, newJob("t.js", "1", false), nil, nil); err != nil || v != int64(1) {
			t.Fatalf("after a crash: %v, %v", v, err)
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("the next run took %s", took)
		}
	}
}

// killAll ends every worker that is at work.
func (r *Runner) killAll() {
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	for p := range r.pool.working {
		p.Kill()
	}
}

func TestCancel(t *testing.T) {
	for place, run := range map[string]func(ctx context.Context, h recorder) error{
		"process": func(ctx context.Context, h recorder) error {
			p, err := compile("t.js", "Noop(); for (;;);", false, benchNames)
			if err != nil {
				return err
			}
			l := DefaultLimits
			_, err = newMachine(h, newNames(fakeOps, fakeReads...), &l).run(ctx, p, nil, nil)
			return err
		},
		"worker": func(ctx context.Context, h recorder) error {
			_, err := shared.submit(ctx, "bob", h, newNames(fakeOps, fakeReads...), newJob("t.js", "Noop(); for (;;);", false), nil, nil)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		h := &hookHost{fakeHost: newFakeHost(), before: func(int) { time.AfterFunc(20*time.Millisecond, cancel) }}
		started := time.Now()
		err := run(ctx, h)
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", place, err)
		}
		if took := time.Since(started); took > 10*time.Second {
			t.Errorf("%s: took %s", place, took)
		}
	}
}

// TestQueue holds all workers: one principal has no more than its share, and anyone who
// waits too long is told so.
func TestQueue(t *testing.T) {
	r := New(Options{Worker: self(), Limits: Limits{Workers: 3, PerUser: 2, Spares: 1, QueueWait: 200 * time.Millisecond, QueueLimit: 1}})
	defer r.Close()
	n := newNames(fakeOps, fakeReads...)
	release := make(chan struct{})
	var entered, finished sync.WaitGroup
	hold := func(user string) {
		entered.Add(1)
		finished.Add(1)
		go func() {
			defer finished.Done()
			h := &hookHost{fakeHost: newFakeHost(), before: func(int) { entered.Done(); <-release }}
			if _, err := r.submit(context.Background(), user, h, n, newJob("t.js", "Noop()", false), nil, nil); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		}()
	}
	run := func(user string) error {
		_, err := r.submit(context.Background(), user, newFakeHost(), n, newJob("t.js", "1", false), nil, nil)
		return err
	}
	hold("bob")
	hold("bob")
	entered.Wait()
	if err := run("eve"); err != nil {
		t.Errorf("eve, while bob has his share: %v", err)
	}
	var f *fault.Error
	if err := run("bob"); !errors.As(err, &f) || f.Kind != fault.Unavailable || f.Code != fault.CodeScriptBusy {
		t.Errorf("bob's third: %v", err)
	}
	hold("eve")
	entered.Wait()
	var first, second error
	var wait sync.WaitGroup
	wait.Add(1)
	go func() { defer wait.Done(); first = run("ann") }()
	for deadline := time.Now().Add(time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if r.Workers().Waiting > 0 {
			break
		}
	}
	second = run("joe")
	wait.Wait()
	if !strings.Contains(second.Error(), "1 callers are waiting") || !strings.Contains(first.Error(), "none became free within 200ms") {
		t.Errorf("waiting: %v; beyond the queue: %v", first, second)
	}
	close(release)
	finished.Wait()
	if err := run("ann"); err != nil {
		t.Errorf("ann, when workers are free: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := run("ann"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after the end: %v", err)
	}
}

// TestConcurrent runs many scripts of several principals at once.
func TestConcurrent(t *testing.T) {
	r := New(Options{Worker: self(), Limits: Limits{QueueWait: 20 * time.Second}})
	defer r.Close()
	n := newNames(fakeOps, fakeReads...)
	var wait sync.WaitGroup
	for _, user := range []string{"ann", "bob", "eve", "joe"} {
		for range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := range 10 {
					h := newFakeHost()
					v, err := r.submit(context.Background(), user, h, n, newJob("t.js", "let s = 0; for (const d of List(null, {n: 5})) { ctx.x = d; s += ctx.x.name.length } s", false), nil, nil)
					if err != nil || v != int64(10) {
						t.Errorf("%s %d: %v, %v", user, i, v, err)
						return
					}
				}
			}()
		}
	}
	wait.Wait()
}

// TestHostile feeds the server what a worker under somebody else's control might send.
func TestHostile(t *testing.T) {
	h := newFakeHost()
	for name, build := range map[string]func(w *writer){
		"nothing":      func(w *writer) { w.b = w.b[:5] },
		"unknown kind": func(w *writer) { w.b[4] = 'x' },
		"foreign handle": func(w *writer) {
			w.uint(0)
			w.uint(0)
			w.string("Noop")
			w.int(1)
			w.byte(tagDocument)
			w.uint(99)
			w.byte(tagNil)
		},
		"file as a doc": func(w *writer) {
			w.uint(0)
			w.uint(0)
			w.string("Noop")
			w.int(1)
			w.byte(tagDocument)
			w.uint(0)
			w.byte(tagNil)
		},
		"endless list": func(w *writer) {
			w.uint(0)
			w.uint(0)
			w.string("Noop")
			w.int(1)
			w.byte(tagArray)
			w.uint(1 << 40)
		},
		"deep list": func(w *writer) {
			w.uint(0)
			w.uint(0)
			w.string("Noop")
			w.int(1)
			w.b = append(w.b, strings.Repeat("\x07\x01", 200)...)
		},
		"endless changes": func(w *writer) { w.uint(1 << 40) },
		"long text":       func(w *writer) { w.uint(0); w.uint(0); w.uint(1 << 50) },
	} {
		w := &writer{}
		w.start(frameCall)
		build(w)
		l := DefaultLimits
		s := &supervisor{host: h, limits: &l, numbers: map[any]int{}, handles: []any{&fakeFile{}}, p: &process{out: discard{}}}
		r := &reader{b: w.b[4:], handles: s}
		kind := r.byte()
		err := s.call(r)
		if kind == frameCall && err == nil {
			t.Errorf("%s: believed", name)
		}
		if len(h.calls) != 0 {
			t.Errorf("%s: an operation ran", name)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// TestReady has no program to start workers with, which shows with the first script.
func TestReady(t *testing.T) {
	r := New(Options{Worker: []string{t.TempDir() + "/none"}, Limits: Limits{Spares: 1}})
	defer r.Close()
	if err := r.Ready(context.Background()); err != nil {
		t.Fatalf("before any was started: %v", err)
	}
	_, err := r.submit(context.Background(), "bob", newFakeHost(), newNames(fakeOps), newJob("t.js", "1", false), nil, nil)
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("a script without workers: %v", err)
	}
	if r.Ready(context.Background()) == nil {
		t.Error("workers that cannot start are ready")
	}
}

// TestNoWorkers counts worker processes: there are none before the first script, nor when
// none has run for a while.
func TestNoWorkers(t *testing.T) {
	r := New(Options{Worker: self()})
	defer r.Close()
	if err := r.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	if w := r.Workers(); w != (Workers{}) {
		t.Errorf("before the first script: %+v", w)
	}
	if _, err := r.submit(context.Background(), "bob", newFakeHost(), newNames(fakeOps), newJob("t.js", "1", false), nil, nil); err != nil {
		t.Fatal(err)
	}
	for r.Workers().Spare < 2 {
		time.Sleep(time.Millisecond)
	}
	r.pool.mu.Lock()
	for _, p := range append(r.pool.idle, r.pool.spares...) {
		p.used = p.used.Add(-idleTime)
	}
	r.pool.mu.Unlock()
	r.pool.reap()
	if w := r.Workers(); w != (Workers{}) {
		t.Errorf("after an idle while: %+v", w)
	}
}
