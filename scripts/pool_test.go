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
	n := newNames(fakeOps)
	const source = "for (let i = 0; i < 20; i++)\n Noop(i)"
	for at := 1; at <= 20; at++ {
		h := &hookHost{fakeHost: newFakeHost()}
		h.before = func(n int) {
			if n == at {
				r.killAll()
			}
		}
		_, err := r.runInWorker(context.Background(), "bob", h, n, job{file: "t.js", source: source}, nil, nil)
		var f *fault.Error
		if !errors.As(err, &f) || f.Code != fault.CodeScriptCrash || f.Kind != fault.Limit || f.Line != 2 {
			t.Fatalf("killed at call %d: %v", at, err)
		}
		if h.n != at {
			t.Errorf("killed at call %d: %d calls were made", at, h.n)
		}
		started := time.Now()
		if v, err := r.runInWorker(context.Background(), "bob", newFakeHost(), n, job{file: "t.js", source: "1"}, nil, nil); err != nil || v != int64(1) {
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
	for place, run := range map[string]func(ctx context.Context, h host) error{
		"process": func(ctx context.Context, h host) error {
			p, err := compile("t.js", "Noop(); for (;;);", false)
			if err != nil {
				return err
			}
			l := Limits{}.withDefaults()
			_, err = newMachine(h, newNames(fakeOps), &l).run(ctx, p, nil, nil)
			return err
		},
		"worker": func(ctx context.Context, h host) error {
			_, err := shared.runInWorker(ctx, "bob", h, newNames(fakeOps), job{file: "t.js", source: "Noop(); for (;;);"}, nil, nil)
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

// TestQueue holds all workers: one principal has no more than its share, and whoever
// waits too long is told so.
func TestQueue(t *testing.T) {
	r := New(Options{Worker: self(), Limits: Limits{Workers: 3, PerUser: 2, Spares: 1, QueueWait: 200 * time.Millisecond, QueueLimit: 1}})
	defer r.Close()
	n := newNames(fakeOps)
	release := make(chan struct{})
	var entered, finished sync.WaitGroup
	hold := func(user string) {
		entered.Add(1)
		finished.Add(1)
		go func() {
			defer finished.Done()
			h := &hookHost{fakeHost: newFakeHost(), before: func(int) { entered.Done(); <-release }}
			if _, err := r.runInWorker(context.Background(), user, h, n, job{file: "t.js", source: "Noop()"}, nil, nil); err != nil {
				t.Errorf("%s: %v", user, err)
			}
		}()
	}
	run := func(user string) error {
		_, err := r.runInWorker(context.Background(), user, newFakeHost(), n, job{file: "t.js", source: "1"}, nil, nil)
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
		r.pool.mu.Lock()
		waiting := r.pool.waiting
		r.pool.mu.Unlock()
		if waiting > 0 {
			break
		}
	}
	second = run("joe")
	wait.Wait()
	if !strings.Contains(second.Error(), "1 others wait") || !strings.Contains(first.Error(), "none became free within 200ms") {
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
	n := newNames(fakeOps)
	var wait sync.WaitGroup
	for _, user := range []string{"ann", "bob", "eve", "joe"} {
		for range 4 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				for i := range 10 {
					h := newFakeHost()
					v, err := r.runInWorker(context.Background(), user, h, n, job{file: "t.js", source: "let s = 0; for (const d of List(null, {n: 5})) { ctx.x = d; s += ctx.x.name.length } s"}, nil, nil)
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
		l := Limits{}.withDefaults()
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

// TestReady has no program to start workers with.
func TestReady(t *testing.T) {
	r := New(Options{Worker: []string{t.TempDir() + "/none"}, Limits: Limits{Spares: 1}})
	defer r.Close()
	if err := r.Ready(context.Background()); err != nil {
		t.Fatalf("before any was started: %v", err)
	}
	for range 1000 {
		if err := r.Ready(context.Background()); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("workers that cannot start are ready")
}
