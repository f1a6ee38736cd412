package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
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
	d.put(queueWaiting, Job{ID: "b", Kind: "a", Due: start.Add(-30 * 24 * time.Hour), Interrupted: interruptedLimit})
	_, leased, given, err := d.claim(t.Context(), key(queueWaiting, start.Add(-30*24*time.Hour), "b"), anything())
	d.check(err)
	if dead := d.list(GivenUp, "", 0); leased != nil || !given || len(dead) != 1 || !dead[0].Due.Equal(start) {
		t.Errorf("after too many interruptions: %v %+v", leased, dead)
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

// TestBuried: who wants to know of the end of a job is told once, with the reason, and never of one that is tried again.
func TestBuried(t *testing.T) {
	for _, c := range []struct {
		name string
		job  Job
		do   error
		want string // the failure that is told; "": nothing is
	}{
		{"done", Job{}, nil, ""},
		{"tried again", Job{}, errors.New("a"), ""},
		{"last try", Job{Tries: most - 1}, errors.New("b"), "b"},
		{"given up", Job{}, &GaveUp{errors.New("c")}, "c"},
		{"interrupted too often", Job{Interrupted: interruptedLimit}, nil, "the process ended 20 times while the job was carried out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(t)
			c.job.ID, c.job.Kind, c.job.Due, c.job.Failure, c.job.Data = "x", "k", start, "before", json.RawMessage("1")
			d.put(queueWaiting, c.job)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			told := make(chan string, 2)
			did := make(chan bool, 2)
			h := Handler{
				Do:     func(context.Context, Job) error { did <- true; return c.do },
				Buried: func(_ context.Context, j Job) error { told <- j.Failure; return nil },
			}
			done := make(chan error, 1)
			go func() { done <- d.Run(ctx, Handlers{"k": h}) }()
			if c.want == "" {
				<-did
			} else if got := <-told; got != c.want {
				t.Errorf("told %q, want %q", got, c.want)
			}
			cancel()
			d.check(<-done)
			select {
			case got := <-told:
				t.Errorf("told once more: %q", got)
			default:
			}
		})
	}
}
