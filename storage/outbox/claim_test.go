package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

// TestClaim: of all who want a job one gets it, and only if it can be carried out.
func TestClaim(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "x", Kind: "narrow", Due: start}, Job{ID: "y", Kind: "narrow", Due: start}, Job{ID: "z", Kind: "unknown", Due: start})
	b := anything()
	at := func(id string) []byte { return key(queueWaiting, start, id) }
	j, leased, _, err := d.claim(t.Context(), at("x"), b)
	if err != nil || j.ID != "x" || j.Tries != 1 || !moment(leased).Equal(start.Add(leaseTime)) {
		t.Errorf("%+v, %q, %v", j, leased, err)
	}
	for _, id := range []string{"x", "y", "z", "none"} { // gone, full, without a handler, never there
		if _, leased, _, err := d.claim(t.Context(), at(id), b); leased != nil || err != nil {
			t.Errorf("%s: %q, %v", id, leased, err)
		}
	}
	b.leave("narrow")
	keys, err := d.due(t.Context(), &look{busy: b}, 10)
	if err != nil || len(keys) != 1 || !bytes.Equal(keys[0], at("y")) {
		t.Errorf("due %q, %v", keys, err)
	}
	d.now = start.Add(leaseTime) // the lease of x ends now, and it is due again
	keys, err = d.due(t.Context(), &look{busy: b}, 10)
	if err != nil || len(keys) != 2 || !bytes.Equal(keys[0], leased) {
		t.Errorf("due %q, %v", keys, err)
	}
	if keys, err = d.due(t.Context(), &look{busy: b}, 1); len(keys) != 1 || err != nil {
		t.Errorf("one at most: %q, %v", keys, err)
	}
	again, second, _, err := d.claim(t.Context(), leased, b)
	if err != nil || again.Tries != 1 || again.Interrupted != 1 || second == nil {
		t.Errorf("a lease that has ended is no try that failed: %+v, %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := d.claim(ctx, at("y"), b); err == nil {
		t.Error("a job was claimed after the end")
	}
	d.update(func(k *kv.Tx) error { return k.Set(at("bad"), []byte("{")) })
	if _, leased, _, err := d.claim(t.Context(), at("bad"), anything()); leased != nil || !fault.Is(err, fault.Internal) {
		t.Errorf("a damaged row: %q, %v", leased, err)
	}
}

// TestRenew: a lease is prolonged as long as it is held; another worker's job is left alone, whatever became of it.
func TestRenew(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "x", Kind: "a", Due: start})
	j, leased, _, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
	d.check(err)
	l := &lease{key: leased}
	for _, at := range []time.Duration{0, renewal, renewal} { // also when the clock stands still
		d.now = start.Add(at)
		if held, err := d.renew(t.Context(), &j, l); !held || err != nil || !moment(l.key).Equal(d.now.Add(leaseTime)) {
			t.Fatalf("at %v: %v, %v", at, held, err)
		}
	}
	if n := len(d.list("", "", 0)); n != 1 {
		t.Errorf("%d rows", n)
	}
	d.now = d.now.Add(leaseTime)
	other, second, _, err := d.claim(t.Context(), l.key, anything())
	d.check(err)
	if held, err := d.renew(t.Context(), &j, l); held || err != nil {
		t.Errorf("a lost lease: %v, %v", held, err)
	}
	d.settle(t.Context(), &j, l.key, errors.New("mine"))
	if jobs := d.list("", "", 0); len(jobs) != 1 || jobs[0].State != Runs || jobs[0].Interrupted != 1 || jobs[0].Failure != "" {
		t.Errorf("the first worker has settled the job of the second: %+v", jobs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.settle(ctx, &other, second, nil) // also when the server stops
	if jobs := d.list("", "", 0); len(jobs) != 0 {
		t.Errorf("left %+v", jobs)
	}
}

// TestLeasesEnd has each worker of a job disappear. The job is taken over at once twice, waits longer each time then, and is given
// up in the end, which is told once.
func TestLeasesEnd(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "x", Kind: "a", Due: start, Created: start})
	told := 0
	w := &crew{slots: make(chan struct{}, 1), busy: anything()}
	w.busy.handlers["a"] = Handler{Do: w.busy.handlers["a"].Do, Buried: func(_ context.Context, j Job) error {
		if told++; j.Failure != "the process ended 20 times while the job was carried out" {
			t.Errorf("given up: %q", j.Failure)
		}
		return nil
	}}
	for n := 1; n <= interruptedLimit; n++ {
		keys, err := d.due(t.Context(), &look{busy: w.busy}, 2)
		d.check(err)
		if len(keys) != 1 {
			t.Fatalf("interrupted %d times: due %q, %+v", n-1, keys, d.list("", "", 0))
		}
		j, leased, dead, err := d.claim(t.Context(), keys[0], w.busy)
		d.check(err)
		if leased == nil || dead || j.Tries != 1 {
			t.Fatalf("interrupted %d times: %+v, %q, given up: %t", n-1, j, leased, dead)
		}
		d.now = d.now.Add(leaseTime)
		if n > interruptedFree && n < interruptedLimit {
			if _, leased, dead, err := d.claim(t.Context(), leased, w.busy); leased != nil || dead || err != nil {
				t.Fatalf("interrupted %d times: %q, %t, %v", n, leased, dead, err)
			}
			pause := min(time.Second<<(n-interruptedFree-1), interruptedPause)
			if jobs := d.list(Waits, "", 0); len(jobs) != 1 || jobs[0].Due.Sub(d.now) != pause || jobs[0].Tries != 0 {
				t.Fatalf("interrupted %d times: %+v, want due after %s", n, jobs, pause)
			}
			d.now = d.now.Add(pause)
		}
	}
	keys, err := d.due(t.Context(), &look{busy: w.busy}, 2)
	d.check(err)
	if claimed := d.begin(t.Context(), w, keys); claimed || told != 1 || len(d.list(GivenUp, "", 0)) != 1 {
		t.Errorf("claimed: %t, told %d times, %+v", claimed, told, d.list("", "", 0))
	}
}

// TestTry: a handler sees its job and its id, a panic is a failure, and so is a handler that says nothing but ends.
func TestTry(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct {
		name string
		do   func(ctx context.Context, j Job) error
		want string
	}{
		{"well", func(context.Context, Job) error { return nil }, ""},
		{"failure", func(context.Context, Job) error { return errors.New("no luck") }, "no luck"},
		{"panic", func(context.Context, Job) error { panic("at the disco") }, "job a: panic: at the disco"},
		{"nil map", func(context.Context, Job) error { return write(nil) }, "panic: assignment to entry in nil map"},
		{"bounded", func(ctx context.Context, _ Job) error {
			if at, ok := ctx.Deadline(); !ok || time.Until(at) > longest {
				return errors.New("without an end")
			}
			return nil
		}, ""},
	} {
		err := d.try(t.Context(), &Job{ID: "x", Kind: "a"}, c.do)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasSuffix(err.Error(), c.want)) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	var carried string
	d.put(queueWaiting, Job{ID: "x", Kind: "a", Due: start})
	j, leased, _, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
	d.check(err)
	d.carryOut(t.Context(), &j, &lease{key: leased}, func(ctx context.Context, _ Job) error { carried = Carried(ctx); return nil })
	if carried != "x" || Carried(t.Context()) != "" {
		t.Errorf("carried out %q", carried)
	}
}

// TestStopped: what a job returns when the server stops does not count as a try, unless it cannot succeed anyway.
func TestStopped(t *testing.T) {
	for _, c := range []struct {
		failed error
		state  string
		tries  int
	}{{context.Canceled, Waits, 0}, {&GaveUp{errors.New("never")}, GivenUp, 1}, {nil, "", 0}} {
		d := newDesk(t)
		d.put(queueWaiting, Job{ID: "x", Kind: "a", Due: start})
		j, leased, _, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
		d.check(err)
		ctx, cancel := context.WithCancel(t.Context())
		d.carryOut(ctx, &j, &lease{key: leased}, func(context.Context, Job) error { cancel(); return c.failed })
		jobs := d.list("", "", 0)
		if c.state == "" && len(jobs) != 0 || c.state != "" && (len(jobs) != 1 || jobs[0].State != c.state || jobs[0].Tries != c.tries) {
			t.Errorf("%v: %+v", c.failed, jobs)
		}
	}
}

// TestQueueModel has random things happen to jobs, and compares the queues with a model: no job is ever lost or doubled.
func TestQueueModel(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		d := newDesk(t)
		b := anything()
		b.handlers = Handlers{"a": b.handlers["a"]}
		alive, held := map[string]bool{}, map[string][]byte{}
		jobs := map[string]Job{}
		for n := range 120 {
			switch rnd.IntN(5) {
			case 0:
				id := fmt.Sprint("j", n)
				d.put(queueWaiting, Job{ID: id, Kind: "a", Due: d.now.Add(time.Duration(rnd.IntN(100)) * time.Second), Created: d.now})
				alive[id] = true
			case 1:
				d.now = d.now.Add(time.Duration(rnd.IntN(40)) * time.Second)
			case 2:
				keys, err := d.due(t.Context(), &look{busy: b}, 3)
				d.check(err)
				for _, at := range keys {
					j, leased, _, err := d.claim(t.Context(), at, b)
					d.check(err)
					if leased != nil {
						held[j.ID], jobs[j.ID] = leased, j
					}
				}
			case 3:
				if len(held) == 0 {
					continue
				}
				id := slices.Sorted(maps.Keys(held))[rnd.IntN(len(held))]
				j, failed := jobs[id], error(nil)
				if rnd.IntN(2) == 0 {
					failed = errors.New("no luck")
				}
				mine := slices.ContainsFunc(d.list(Runs, "", 0), func(s State) bool { return s.ID == id && s.Tries == j.Tries && s.Interrupted == j.Interrupted })
				d.settle(t.Context(), &j, held[id], failed)
				if delete(held, id); mine && failed == nil {
					delete(alive, id)
				}
			case 4:
				d.now = d.now.Add(-time.Duration(rnd.IntN(20)) * time.Second)
				d.check(d.advance(t.Context()))
			}
			seen := map[string]bool{}
			for _, j := range d.list("", "", 0) {
				if seen[j.ID] || !alive[j.ID] {
					t.Fatalf("seed %d, step %d: job %s is there twice, or again", seed, n, j.ID)
				}
				seen[j.ID] = true
			}
			if len(seen) != len(alive) {
				t.Fatalf("seed %d, step %d: %d jobs, want %d", seed, n, len(seen), len(alive))
			}
		}
	}
}

func write(m map[string]int) error {
	m["a"] = 1
	return nil
}
