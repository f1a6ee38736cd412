package schedule_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/schedule"
	"catena/ops"
	"catena/storage"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world is an engine with its schedules on a store in memory, under a clock that is set.
type world struct {
	t         *testing.T
	repo      *storage.Repo
	engine    *engine.Engine
	schedules *schedule.Schedules
	clock     atomic.Int64
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.clock.Store(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.repo = storagetest.Open(t, func(c *storage.Config) { c.Clock = w.now })
	w.start()
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		if err := people.SaveUser(tx, &people.User{Username: "bob"}, ""); err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}})
		return err
	}))
	return w
}

func (w *world) now() time.Time { return time.UnixMilli(w.clock.Load()) }

// start makes the engine, as a new start of the server does.
func (w *world) start() {
	w.schedules = schedule.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), w.schedules.Ops())...)
	w.must(err)
	w.engine = engine.New(engine.Config{Repo: w.repo, Set: set, Log: slog.New(slog.DiscardHandler), Clock: w.now})
	w.must(w.schedules.Load(w.t.Context(), w.engine))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run(op string, params map[string]any) (any, error) {
	w.t.Helper()
	as, err := w.engine.PrincipalOf(w.t.Context(), "Administrator")
	w.must(err)
	r, err := w.engine.Run(w.t.Context(), engine.Call{Op: op, Params: params, As: as, EntryPoint: engine.REST})
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

func (w *world) save(source string) {
	w.t.Helper()
	_, err := w.run("Schedule.Save", map[string]any{"source": source})
	w.must(err)
}

// jobs are those of schedules that wait.
func (w *world) jobs() (jobs []outbox.State) {
	w.t.Helper()
	w.must(w.repo.View(w.t.Context(), w.repo.System(), func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, "", "", 100)
		return err
	}))
	return jobs
}

// pass lets time go by, and carries out what has become due; each job is carried out twice, as it is if the server is
// killed before it has noted that a job was done.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.clock.Add(d.Milliseconds())
	const look = "look" // a job that is carried out after the queue has looked at the clock
	w.must(w.repo.Update(w.t.Context(), w.repo.System(), func(tx *storage.Tx) error { return outbox.Enqueue(tx, outbox.Job{Kind: look}) }))
	handlers := outbox.Handlers{look: {Do: func(context.Context, outbox.Job) error { return nil }}}
	for kind, h := range w.schedules.Jobs() {
		handlers[kind] = outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error {
			if err := h.Do(ctx, j); err != nil {
				return err
			}
			return h.Do(ctx, j)
		}}
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, w.repo, handlers) }()
	for ctx.Err() == nil && w.due() {
		time.Sleep(2 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
}

func (w *world) due() bool {
	for _, j := range w.jobs() {
		if j.State == outbox.Runs || j.State == outbox.Waits && j.Tries == 0 && !j.Due.After(w.now()) {
			return true
		}
	}
	return false
}

// made counts the documents that schedules have made.
func (w *world) made() (n int) {
	w.t.Helper()
	w.must(w.repo.View(w.t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		for d, err := range tx.EachChild(root) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(d.Name(), "made") {
				n++
			}
		}
		return nil
	}))
	return n
}

func (w *world) status() schedule.Status {
	w.t.Helper()
	v, err := w.run("Schedule.Status", nil)
	w.must(err)
	all := v.([]schedule.Status)
	if len(all) != 1 {
		w.t.Fatalf("schedules %v", all)
	}
	return all[0]
}

const create = "name: T.Make\nas: bob\ninput: /\nrun: Document.Create\nparams: {type: File, name: 'made @{Schedule.name}'}\n"

func TestInterval(t *testing.T) {
	w := newWorld(t)
	w.save(create + "every: 1h\n")
	for i := range 3 {
		w.pass(59 * time.Minute)
		if n := w.made(); n != i {
			t.Fatalf("before the time: %d", n)
		}
		w.pass(time.Minute)
		if n := w.made(); n != i+1 {
			t.Fatalf("at the time: %d, want %d; %+v", n, i+1, w.jobs())
		}
	}
	if jobs := w.jobs(); len(jobs) != 1 {
		t.Errorf("jobs %+v", jobs)
	}
	if s := w.status(); s.State != "scheduled" || !s.Last.Equal(w.now()) || !s.Next.Equal(w.now().Add(time.Hour)) {
		t.Errorf("status %+v", s)
	}
}

// TestDowntime starts the server again after a day: what was missed is made up for once, or skipped.
func TestDowntime(t *testing.T) {
	for missed, want := range map[string]int{"once": 1, "skip": 0} {
		w := newWorld(t)
		w.save(create + "every: 1h\nmissed: " + missed + "\n")
		w.clock.Add((24*time.Hour + 30*time.Minute).Milliseconds())
		w.start()
		w.pass(0)
		if n := w.made(); n != want {
			t.Errorf("%s: %d, want %d", missed, n, want)
		}
		w.pass(30 * time.Minute)
		if n := w.made(); n != want+1 {
			t.Errorf("%s: %d after the next, want %d", missed, n, want+1)
		}
	}
}

// TestZone runs at a time of day across the day on which clocks are put forward: 2026-03-29 in Paris.
func TestZone(t *testing.T) {
	w := newWorld(t)
	w.save(create + "cron: '0 7 * * *'\ntimezone: Europe/Paris\n")
	for _, want := range []string{"2026-03-29T05:00:00Z", "2026-03-30T05:00:00Z"} {
		if got := w.status().Next.Format(time.RFC3339); got != want {
			t.Errorf("next %s, want %s", got, want)
		}
		w.pass(w.status().Next.Sub(w.now()))
	}
	if n := w.made(); n != 2 {
		t.Errorf("made %d", n)
	}
}

func TestOnce(t *testing.T) {
	w := newWorld(t)
	w.save(create + "at: 2026-03-28T13:00:00Z\n")
	w.start() // which plans nothing again
	w.pass(2 * time.Hour)
	w.pass(24 * time.Hour)
	if s := w.status(); w.made() != 1 || s.State != "ended" || len(w.jobs()) != 0 {
		t.Errorf("made %d, status %+v, jobs %+v", w.made(), s, w.jobs())
	}
}

func TestStopped(t *testing.T) {
	w := newWorld(t)
	w.save(create + "every: 1h\n")
	_, err := w.run("Schedule.Stop", map[string]any{"name": "T.Make"})
	w.must(err)
	w.pass(5 * time.Hour)
	if s := w.status(); w.made() != 0 || s.State != "stopped" {
		t.Errorf("made %d, status %+v", w.made(), s)
	}
	_, err = w.run("Schedule.RunNow", map[string]any{"name": "T.Make"})
	w.must(err)
	w.pass(0)
	_, err = w.run("Schedule.Resume", map[string]any{"name": "T.Make"})
	w.must(err)
	w.pass(time.Hour)
	if n := w.made(); n != 2 {
		t.Errorf("made %d", n)
	}
	_, err = w.run("Schedule.Delete", map[string]any{"name": "T.Make"})
	w.must(err)
	w.pass(5 * time.Hour)
	if n := w.made(); n != 2 || len(w.jobs()) != 0 {
		t.Errorf("deleted: made %d, jobs %+v", n, w.jobs())
	}
}

// TestFailure: the failure of a run is shown, and the next run is made all the same.
func TestFailure(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Fail\nas: bob\ninput: /\nevery: 1h\nrun: Document.GetChild\nparams: {name: made}\n")
	w.pass(time.Hour)
	if s := w.status(); !strings.Contains(s.Failure, "/made") || !s.Pending {
		t.Errorf("status %+v", s)
	}
	w.save(create + "every: 1h\n")
	w.pass(time.Hour)
	if n := w.made(); n != 1 {
		t.Errorf("made %d", n)
	}
}

func TestProblems(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ source, want string }{
		{"name: T\nas: bob\ncron: 'x'\nrun: Log\n", "s.yaml:3:7: cron: "},
		{"name: T\nas: bob\ncron: '0 0 31 2 *'\nrun: Log\n", "s.yaml:3:7: cron: no day matches"},
		{"name: T\nas: bob\ncron: '0 7 * * *'\ntimezone: Paris\nrun: Log\n", `timezone: unknown time zone "Paris"`},
		{"name: T\nas: bob\nevery: 1s\nrun: Log\n", "s.yaml:3:8: every: must be a duration of at least 10s"},
		{"name: T\nas: bob\nevery: 1h\nat: 2026-01-01T00:00:00Z\nrun: Log\n", "exactly one of cron, every and at"},
		{"name: T\nas: nobody\nevery: 1h\nrun: Document.Lok\n", "unknown operation, perhaps Document.Lock"},
		{"name: T\nas: nobody\nevery: 1h\nrun: Log\nparams: {level: info, message: a}\n", "as: user nobody does not exist"},
		{"name: T\nas: bob\nevery: 1h\nrun: Document.Lock\n", "Document.Lock: input: must be of type document or documents, not void"},
		{"name: T\nas: bob\nevery: 1h\nrun: Log\nparams: {level: info, message: '@{Schedul.name}'}\n", `s.yaml:5:35: step 1: Log: expression: unknown variable "Schedul", perhaps Schedule`},
	} {
		_, err := w.run("Schedule.Save", map[string]any{"source": c.source, "name": "s.yaml"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

// TestJSON holds the form in which jobs are kept.
func TestJSON(t *testing.T) {
	w := newWorld(t)
	w.save(create + "every: 1h\n")
	jobs := w.jobs()
	if len(jobs) != 1 || jobs[0].Kind != schedule.DueJob {
		t.Fatalf("jobs %+v", jobs)
	}
	var got any
	w.must(json.Unmarshal(jobs[0].Data, &got))
	if string(jobs[0].Data) != `{"name":"T.Make","at":"2026-03-28T13:00:00Z"}` {
		t.Errorf("data %s", jobs[0].Data)
	}
}
