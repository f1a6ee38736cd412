package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/memory"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// desk is a queue in memory with a clock that tests move.
type desk struct {
	*Queue
	t   *testing.T
	now time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, now: start}
	db := kv.New(memory.New(), kv.Options{})
	t.Cleanup(func() { d.check(db.Close()) })
	d.Queue = &Queue{DB: db, Clock: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler), Jitter: func(time.Duration) time.Duration { return 0 }}
	return d
}

func (d *desk) check(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) update(f func(k *kv.Tx) error) {
	d.t.Helper()
	d.check(d.DB.Update(d.t.Context(), f))
}

// put adds jobs to a queue.
func (d *desk) put(queue byte, jobs ...Job) {
	d.t.Helper()
	d.update(func(k *kv.Tx) error {
		for _, j := range jobs {
			if err := put(k, queue, j.Due, j); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d *desk) list(state, kind string, limit int) (out []State) {
	d.t.Helper()
	d.check(d.DB.View(d.t.Context(), func(k *kv.Tx) (err error) {
		out, err = listRows(k, state, kind, limit, 1000)
		return err
	}))
	return out
}

func idsOf(jobs []State) (out []string) {
	for _, j := range jobs {
		out = append(out, j.State+" "+j.ID)
	}
	return out
}

// TestKeys: jobs sort by when they are due, also before 1970, and then by their ids; what is due is read back.
func TestKeys(t *testing.T) {
	moments := []time.Time{time.UnixMilli(math.MinInt64), time.UnixMilli(-1), time.UnixMilli(0), time.UnixMilli(1), start, time.UnixMilli(math.MaxInt64)}
	for _, queue := range []byte{queueWaiting, queueRunning} {
		var before []byte
		for _, at := range moments {
			for _, id := range []string{"", "a", "b"} {
				k := key(queue, at, id)
				if !moment(k).Equal(at) || bytes.Compare(before, k) >= 0 {
					t.Errorf("%v %q: moment %v", at, id, moment(k))
				}
				before = k
			}
		}
	}
	if got := string(key(queueDead, start, "x")); got != "j\x02x" || !bytes.HasPrefix([]byte(got), deadRows()) {
		t.Errorf("a job that was given up: %q", got)
	}
}

// TestDelays: the pauses grow, are together about a day, and every number of tries has one.
func TestDelays(t *testing.T) {
	total := time.Duration(0)
	for n := 1; n < most; n++ {
		if n > 1 && delay(n) <= delay(n-1) {
			t.Errorf("after try %d: %v", n, delay(n))
		}
		total += delay(n)
	}
	if total < 20*time.Hour || total > 24*time.Hour {
		t.Errorf("all pauses are %v", total)
	}
	for _, n := range []int{math.MinInt, -1, 0} {
		if delay(n) != time.Second {
			t.Errorf("%d tries: %v", n, delay(n))
		}
	}
	if delay(most) != 14*time.Hour || delay(math.MaxInt) != 14*time.Hour {
		t.Error("more tries than there are have another pause")
	}
}

func TestCutText(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 0, ""}, {"abc", 3, "abc"}, {"abc", 2, "ab"}, {"aä", 2, "a"}, {"a\U0001F600", 4, "a"}, {"a\U0001F600", 5, "a\U0001F600"}, {"ab", 0, ""}, {"e\u0301x", 2, "e"},
	} {
		if got := cutText(c.text, c.most); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q to %d: %q", c.text, c.most, got)
		}
	}
}

func TestErrors(t *testing.T) {
	cause := fault.Denied.Errorf("no")
	for _, c := range []struct {
		err  error
		ends bool
	}{
		{nil, false},
		{errors.New("a"), false},
		{fault.Invalid.Errorf("a"), true},
		{cause, true},
		{fmt.Errorf("b: %w", cause), true},
		{fault.Limit.Errorf("a"), true},
		{fault.Unavailable.Errorf("a"), false},
		{fault.Conflict.Errorf("a"), false},
		{fault.NotFound.Errorf("a"), false},
		{fault.Internal.Errorf("a"), false},
		{context.Canceled, false},
	} {
		var never *GaveUp
		err := Final(c.err)
		if got := errors.As(err, &never); got != c.ends || !errors.Is(err, c.err) {
			t.Errorf("%v: ends %v as %v", c.err, got, err)
		}
		if c.ends && (err.Error() != c.err.Error() || fault.Of(err) != fault.Of(c.err)) {
			t.Errorf("%v became %v", c.err, err)
		}
	}
	if (&Later{Why: "busy"}).Error() != "busy" {
		t.Error("what a job waits for")
	}
}

// TestAgain: what becomes of a job after each kind of failure.
func TestAgain(t *testing.T) {
	d := newDesk(t)
	d.now = start.Add(1500 * time.Microsecond)
	now := start.Add(time.Millisecond)
	long := strings.Repeat("ä", maxReason)
	for _, c := range []struct {
		name   string
		tries  int
		failed error
		queue  byte
		due    time.Time
		left   int
	}{
		{"first failure", 1, errors.New("a"), queueWaiting, now.Add(time.Second), 1},
		{"last but one", most - 1, errors.New("a"), queueWaiting, now.Add(14 * time.Hour), most - 1},
		{"last", most, errors.New("a"), queueDead, now, most},
		{"given up", 1, &GaveUp{errors.New("a")}, queueDead, now, 1},
		{"given up within", 1, fmt.Errorf("b: %w", &GaveUp{errors.New("a")}), queueDead, now, 1},
		{"later", 3, &Later{At: start.Add(time.Hour + time.Microsecond)}, queueWaiting, start.Add(time.Hour), 2},
		{"later, as it was", 3, &Later{}, queueWaiting, start.Add(-time.Hour), 2},
		{"later at the last try", most, &Later{}, queueWaiting, start.Add(-time.Hour), most - 1},
		{"later wins", 1, fmt.Errorf("%w %w", &Later{At: start}, &GaveUp{errors.New("a")}), queueWaiting, start, 0},
		{"a long reason", 1, errors.New(long), queueWaiting, now.Add(time.Second), 1},
	} {
		queue, j := d.again(Job{ID: "a", Tries: c.tries, Due: start.Add(-time.Hour), Interrupted: 5}, c.failed)
		if queue != c.queue || !j.Due.Equal(c.due) || j.Tries != c.left || j.Interrupted != 0 || !j.Since.Equal(now) {
			t.Errorf("%s: queue %d, %+v", c.name, queue, j)
		}
		if len(j.Failure) > maxReason || !strings.HasPrefix(c.failed.Error(), j.Failure) || !utf8.ValidString(j.Failure) {
			t.Errorf("%s: failure %.30q", c.name, j.Failure)
		}
	}
	d.Jitter = func(most time.Duration) time.Duration { return most }
	if _, j := d.again(Job{Tries: 2}, errors.New("a")); !j.Due.Equal(now.Add(12 * time.Second)) {
		t.Errorf("with the whole jitter it is due %v", j.Due)
	}
}

// TestGivenUpIsKept: a job that waited for longer than a week before it was given up can be looked at for a week all the same.
func TestGivenUpIsKept(t *testing.T) {
	d := newDesk(t)
	_, j := d.again(Job{ID: "a", Due: start.Add(-30 * 24 * time.Hour), Created: start.Add(-30 * 24 * time.Hour)}, &GaveUp{errors.New("a")})
	row, err := json.Marshal(j)
	d.check(err)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, false}, {kept, false}, {kept + time.Millisecond, true}, {-kept, false}} {
		if got := isOld(row, start.Add(c.after)); got != c.want {
			t.Errorf("after %v it is old: %v", c.after, got)
		}
	}
	for _, damaged := range []string{"", "{", "[]", "null "} {
		if damaged != "null " && isOld([]byte(damaged), start) {
			t.Errorf("the row %q is removed as old", damaged)
		}
	}
	d.put(queueWaiting, Job{ID: "b", Kind: "a", Due: start.Add(-30 * 24 * time.Hour), Tries: most})
	_, leased, err := d.claim(t.Context(), key(queueWaiting, start.Add(-30*24*time.Hour), "b"), anything())
	d.check(err)
	if dead := d.list(GivenUp, "", 0); leased != nil || len(dead) != 1 || !dead[0].Due.Equal(start) {
		t.Errorf("after too many tries: %v %+v", leased, dead)
	}
}

// anything takes jobs of the kind a, and one at a time of the kind narrow.
func anything() *busy {
	none := func(context.Context, Job) error { return nil }
	return &busy{handlers: Handlers{"a": {Do: none}, "narrow": {Do: none, AtOnce: 1}}, kinds: map[string]int{}, freed: make(chan struct{}, 1)}
}

func TestBusy(t *testing.T) {
	b := anything()
	for _, kind := range []string{"", "unknown"} {
		if b.takes(kind) {
			t.Errorf("kind %q is taken", kind)
		}
	}
	for range 100 {
		b.enter("a")
	}
	if !b.takes("a") || !b.takes("narrow") {
		t.Error("a kind without a bound, or another one, is full")
	}
	b.enter("narrow")
	if b.takes("narrow") {
		t.Error("two of a kind that takes one")
	}
	b.leave("narrow")
	if !b.takes("narrow") || len(b.freed) != 1 {
		t.Errorf("it is not free again: %d told", len(b.freed))
	}
	b.enter("narrow")
	b.leave("narrow") // nobody has listened: the one that is told is enough
	if len(b.freed) != 1 {
		t.Errorf("%d told", len(b.freed))
	}
}

func TestList(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "w2", Kind: "b", Due: start}, Job{ID: "w1", Kind: "a", Due: start.Add(-time.Second)}, Job{ID: "w3", Kind: "a", Due: start.Add(time.Hour)})
	d.put(queueRunning, Job{ID: "r1", Kind: "a", Due: start})
	d.put(queueDead, Job{ID: "d2", Kind: "b", Due: start}, Job{ID: "d1", Kind: "a", Due: start})
	for _, c := range []struct {
		state, kind string
		limit       int
		want        []string
	}{
		{"", "", 0, []string{"dead d1", "dead d2", "running r1", "waiting w1", "waiting w2", "waiting w3"}},
		{"", "", 1, []string{"dead d1", "running r1", "waiting w1"}},
		{"", "", -1, []string{"dead d1", "dead d2", "running r1", "waiting w1", "waiting w2", "waiting w3"}},
		{Waits, "a", 0, []string{"waiting w1", "waiting w3"}},
		{Waits, "b", 1, []string{"waiting w2"}},
		{Waits, "", 3, []string{"waiting w1", "waiting w2", "waiting w3"}},
		{GivenUp, "none", 0, nil},
	} {
		if got := idsOf(d.list(c.state, c.kind, c.limit)); !slices.Equal(got, c.want) {
			t.Errorf("%q %q %d: %q, want %q", c.state, c.kind, c.limit, got, c.want)
		}
	}
	d.update(func(k *kv.Tx) error {
		_, err := listRows(k, "Waiting", "", 0, 10)
		var e *fault.Error
		if !errors.As(err, &e) || e.Kind != fault.Invalid || e.Field != "state" {
			t.Errorf("an unknown state: %v", err)
		}
		some, err := listRows(k, Waits, "", 0, 2)
		if len(some) != 2 || err != nil {
			t.Errorf("two are read: %v, %v", idsOf(some), err)
		}
		return nil
	})
}

func TestCount(t *testing.T) {
	d := newDesk(t)
	count := func(most int) (b Backlog) {
		d.check(d.DB.View(t.Context(), func(k *kv.Tx) (err error) { b, err = countRows(k, d.now, most); return err }))
		return b
	}
	if b := count(10); b.Late != 0 || b.Jobs[Waits] != 0 || len(b.Jobs) != 3 {
		t.Errorf("of none: %+v", b)
	}
	d.put(queueWaiting, Job{ID: "a", Due: start.Add(time.Second)}, Job{ID: "b", Due: start.Add(time.Minute)})
	if b := count(10); b.Late != 0 || b.Jobs[Waits] != 2 {
		t.Errorf("before any is due: %+v", b)
	}
	d.now = start.Add(time.Hour)
	d.put(queueDead, Job{ID: "c", Due: start})
	if b := count(10); b.Late != time.Hour-time.Second || b.Jobs[GivenUp] != 1 || b.Jobs[Runs] != 0 {
		t.Errorf("late: %+v", b)
	}
	if b := count(1); b.Late != time.Hour-time.Second || b.Jobs[Waits] != 1 {
		t.Errorf("one is counted: %+v", b)
	}
}

// TestTake: a job is taken from any queue, but not while it runs.
func TestTake(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "w", Due: start})
	d.put(queueDead, Job{ID: "d", Due: start})
	d.put(queueRunning, Job{ID: "r", Due: start.Add(time.Second)})
	take := func(id string) (j State, err error) {
		d.update(func(k *kv.Tx) error { j, err = takeRow(k, id, d.now, 100); return nil })
		return j, err
	}
	for _, c := range []struct{ id, state string }{{"w", Waits}, {"d", GivenUp}} {
		if j, err := take(c.id); err != nil || j.State != c.state || j.ID != c.id {
			t.Errorf("%s: %+v, %v", c.id, j, err)
		}
		if _, err := take(c.id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s again: %v", c.id, err)
		}
	}
	if _, err := take("r"); !fault.Is(err, fault.Conflict) {
		t.Errorf("while it runs: %v", err)
	}
	d.now = start.Add(time.Second) // its lease has ended
	if j, err := take("r"); err != nil || j.State != Runs {
		t.Errorf("after its lease: %+v, %v", j, err)
	}
	if left := d.list("", "", 0); len(left) != 0 {
		t.Errorf("left %v", idsOf(left))
	}
}

// TestClaim: of all who want a job one gets it, and only if it can be carried out.
func TestClaim(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "x", Kind: "narrow", Due: start}, Job{ID: "y", Kind: "narrow", Due: start}, Job{ID: "z", Kind: "unknown", Due: start})
	b := anything()
	at := func(id string) []byte { return key(queueWaiting, start, id) }
	j, leased, err := d.claim(t.Context(), at("x"), b)
	if err != nil || j.ID != "x" || j.Tries != 1 || !moment(leased).Equal(start.Add(leaseTime)) {
		t.Errorf("%+v, %q, %v", j, leased, err)
	}
	for _, id := range []string{"x", "y", "z", "none"} { // gone, full, without a handler, never there
		if _, leased, err := d.claim(t.Context(), at(id), b); leased != nil || err != nil {
			t.Errorf("%s: %q, %v", id, leased, err)
		}
	}
	b.leave("narrow")
	keys, err := d.due(t.Context(), b, 10)
	if err != nil || len(keys) != 1 || !bytes.Equal(keys[0], at("y")) {
		t.Errorf("due %q, %v", keys, err)
	}
	d.now = start.Add(leaseTime) // the lease of x ends now, and it is due again
	keys, err = d.due(t.Context(), b, 10)
	if err != nil || len(keys) != 2 || !bytes.Equal(keys[0], leased) {
		t.Errorf("due %q, %v", keys, err)
	}
	if keys, err = d.due(t.Context(), b, 1); len(keys) != 1 || err != nil {
		t.Errorf("one at most: %q, %v", keys, err)
	}
	again, second, err := d.claim(t.Context(), leased, b)
	if err != nil || again.Tries != 2 || second == nil {
		t.Errorf("the second try: %+v, %v", again, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.claim(ctx, at("y"), b); err == nil {
		t.Error("a job was claimed after the end")
	}
	d.update(func(k *kv.Tx) error { return k.Set(at("bad"), []byte("{")) })
	if _, leased, err := d.claim(t.Context(), at("bad"), anything()); leased != nil || !fault.Is(err, fault.Internal) {
		t.Errorf("a damaged row: %q, %v", leased, err)
	}
}

// TestRenew: a lease is prolonged as long as it is held; another worker's job is left alone, whatever became of it.
func TestRenew(t *testing.T) {
	d := newDesk(t)
	d.put(queueWaiting, Job{ID: "x", Kind: "a", Due: start})
	j, leased, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
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
	other, second, err := d.claim(t.Context(), l.key, anything())
	d.check(err)
	if held, err := d.renew(t.Context(), &j, l); held || err != nil {
		t.Errorf("a lost lease: %v, %v", held, err)
	}
	d.settle(t.Context(), &j, l.key, errors.New("mine"))
	if jobs := d.list("", "", 0); len(jobs) != 1 || jobs[0].State != Runs || jobs[0].Tries != 2 || jobs[0].Failure != "" {
		t.Errorf("the first worker has settled the job of the second: %+v", jobs)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.settle(ctx, &other, second, nil) // also when the server stops
	if jobs := d.list("", "", 0); len(jobs) != 0 {
		t.Errorf("left %+v", jobs)
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
		{"nil map", func(context.Context, Job) error { var m map[string]int; m["a"] = 1; return nil }, "panic: assignment to entry in nil map"},
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
	j, leased, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
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
		j, leased, err := d.claim(t.Context(), key(queueWaiting, start, "x"), anything())
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
				keys, err := d.due(t.Context(), b, 3)
				d.check(err)
				for _, at := range keys {
					j, leased, err := d.claim(t.Context(), at, b)
					d.check(err)
					held[j.ID], jobs[j.ID] = leased, j
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
				mine := slices.ContainsFunc(d.list(Runs, "", 0), func(s State) bool { return s.ID == id && s.Tries == j.Tries })
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
