package listener_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine"
	"catena/engine/listener"
	"catena/ops"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world is a repository with an engine and its listeners.
type world struct {
	*storage.Repo
	t      *testing.T
	engine *engine.Engine
	ls     *listener.Listeners
	skip   atomic.Int64 // of the clock
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(w.skip.Load())) }
	})
	w.engine, w.ls = w.start()
	w.do(func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "bob"}, "") })
	return w
}

func (w *world) start() (*engine.Engine, *listener.Listeners) {
	w.t.Helper()
	ls := listener.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), ls.Ops())...)
	w.must(err)
	e := engine.New(engine.Config{Repo: w.Repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	w.must(ls.Load(w.t.Context(), e))
	return e, ls
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) do(fn func(tx *storage.Tx) error) {
	w.t.Helper()
	w.must(w.Update(w.t.Context(), w.System(), fn))
}

func (w *world) run(user, op string, in any, params map[string]any) error {
	w.t.Helper()
	as, err := w.engine.PrincipalOf(w.t.Context(), user)
	w.must(err)
	_, err = w.engine.Run(w.t.Context(), engine.Call{Op: op, Input: in, Params: params, As: as, EntryPoint: engine.REST})
	return err
}

func (w *world) save(source string) {
	w.t.Helper()
	w.must(w.run("Administrator", "Listener.Save", nil, map[string]any{"source": source}))
}

// work carries out jobs until none waits that is due.
func (w *world) work() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{listener.JobKind: {Do: w.ls.Job(w.Repo)}})
	}()
	for ctx.Err() == nil && w.due() {
		time.Sleep(5 * time.Millisecond)
	}
	if ctx.Err() != nil {
		w.t.Error("jobs do not end")
	}
	cancel()
	w.must(<-done)
}

func (w *world) due() bool {
	for _, j := range w.jobs() {
		if j.State == outbox.Runs || j.State == outbox.Waits && j.Tries == 0 {
			return true
		}
	}
	return false
}

func (w *world) jobs() (jobs []outbox.State) {
	w.t.Helper()
	w.must(w.View(w.t.Context(), w.System(), func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, "", listener.JobKind, 100)
		return err
	}))
	return jobs
}

func (w *world) property(path, xpath string) (v any) {
	w.t.Helper()
	w.must(w.View(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(path))
		if err == nil {
			v, err = d.Get(xpath)
		}
		return err
	}))
	return v
}

const later = `
name: T.Later
events: [documentCreated]
types: [File]
condition: 'Document.name != "skip"'
afterCommit: true
as: AS
run: Document.SetProperty
params: {xpath: "dc:title", value: "made by @{Event.principal}, titled by @{CurrentUser.name}"}
`

func TestAfterCommit(t *testing.T) {
	w := newWorld(t)
	w.save(strings.Replace(later, "AS", "Administrator", 1))
	w.do(func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}})
		return err
	})
	for _, name := range []string{"a", "skip"} {
		w.must(w.run("bob", "Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": name}))
	}
	rolledBack := errors.New("rolled back")
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if _, err = tx.Create(root, "File", "never", nil); err != nil {
			return err
		}
		return rolledBack
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	if n := len(w.jobs()); n != 2 || w.property("/a", "dc:title") != nil {
		t.Errorf("before the jobs: %d, %v", n, w.property("/a", "dc:title"))
	}
	w.work()
	if got := w.property("/a", "dc:title"); got != "made by bob, titled by Administrator" {
		t.Errorf("title %v", got)
	}
	if got := w.property("/skip", "dc:title"); got != nil {
		t.Errorf("title of what is to be skipped %v", got)
	}
	if jobs := w.jobs(); len(jobs) != 0 {
		t.Errorf("left: %+v", jobs)
	}
}

// TestMadeAnew: what waits to be done for a user is not done for another one of the name.
func TestMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		w := newWorld(t)
		w.save(strings.Replace(later, "as: AS\n", "", 1))
		grant := func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err == nil {
				_, err = tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}})
			}
			return err
		}
		w.do(grant)
		w.must(w.run("bob", "Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": "a"}))
		if anew {
			w.do(func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
			w.do(func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "bob"}, "") })
			w.do(grant)
		}
		w.work()
		title, jobs := w.property("/a", "dc:title"), w.jobs()
		if !anew && (title != "made by bob, titled by bob" || len(jobs) != 0) {
			t.Errorf("title %v, jobs %+v", title, jobs)
		}
		if anew && (title != nil || len(jobs) != 1 || jobs[0].State != outbox.GivenUp) {
			t.Errorf("made anew: title %v, jobs %+v", title, jobs)
		}
	}
}

// TestFailedJob: a listener that fails after the commit is tried again, also after a new start.
func TestFailedJob(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Child\nevents: [documentCreated]\ntypes: [Folder]\nafterCommit: true\nrun: Document.GetChild\nparams: {name: child}\n")
	w.must(w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "Folder", "name": "f"}))
	w.work()
	jobs := w.jobs()
	if len(jobs) != 1 || jobs[0].Tries != 1 || !strings.Contains(jobs[0].Failure, "listener T.Child: step 1: Document.GetChild") {
		t.Fatalf("jobs %+v", jobs)
	}
	w.must(w.run("Administrator", "Document.Create", storage.Ref("/f"), map[string]any{"type": "File", "name": "child"}))
	w.engine, w.ls = w.start()
	w.must(w.run("Administrator", "Job.Retry", nil, map[string]any{"id": jobs[0].ID}))
	w.work()
	if jobs := w.jobs(); len(jobs) != 0 {
		t.Errorf("left: %+v", jobs)
	}
}

// TestLoop: listeners that cause each other after the commit end.
func TestLoop(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Ping\nevents: [ping]\nafterCommit: true\nrun: Event.Fire\nparams: {name: pong}\n")
	w.save("name: T.Pong\nevents: [pong]\nafterCommit: true\nrun: Event.Fire\nparams: {name: ping}\n")
	w.must(w.run("Administrator", "Event.Fire", nil, map[string]any{"name": "ping"}))
	w.work()
	jobs := w.jobs()
	if len(jobs) != 1 || jobs[0].State != outbox.GivenUp || !strings.Contains(jobs[0].Failure, "more than 8 listeners") {
		t.Errorf("jobs %+v", jobs)
	}
}

func TestFilters(t *testing.T) {
	for _, c := range []struct {
		filter string
		runs   bool
	}{
		{"types: [File, Note]", true},
		{"types: [Note]", false},
		{"facet: Folderish", false},
		{"facet: Versionable", true},
		{"lifecycle: [project]", true},
		{"lifecycle: [approved]", false},
		{"path: /f", true},
		{"path: /f/", true},
		{"path: /fo", false},
		{"attribute: Document Version", false},
		{"attribute: Regular Document", true},
		{"groups: [members]", true},
		{"groups: [powerusers]", false},
		{"isAdministrator: true", false},
		{"isAdministrator: false", false},
		{"condition: 'Document.path == \"/f\"'", true},
		{"condition: 'Document.path'", false},
		{"condition: 'CurrentUser.name == \"bob\" && Event.name == \"seen\"'", true},
		{"enabled: false", false},
	} {
		t.Run(c.filter, func(t *testing.T) {
			w := newWorld(t)
			w.do(func(tx *storage.Tx) error {
				root, err := tx.Root()
				if err != nil {
					return err
				}
				if _, err = tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "Read", Granted: true}}); err != nil {
					return err
				}
				_, err = tx.Create(root, "File", "f", nil)
				return err
			})
			w.save("name: T\nevents: [seen]\nas: system\n" + c.filter + "\nrun: Document.SetProperty\nparams: {xpath: 'dc:title', value: ran}\n")
			bob, err := w.engine.PrincipalOf(t.Context(), "bob")
			w.must(err)
			w.must(w.Update(t.Context(), bob, func(tx *storage.Tx) error {
				d, err := tx.Doc("/f")
				if err != nil {
					return err
				}
				return tx.Fire(storage.Event{Name: "seen", Doc: d})
			}))
			if got := w.property("/f", "dc:title") == "ran"; got != c.runs {
				t.Errorf("ran %v, want %v", got, c.runs)
			}
		})
	}
}

// TestOrder: lower numbers run first, and a failure undoes the whole call.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.A\norder: 2\nevents: [seen]\nrun: Document.SetProperty\nparams: {xpath: 'dc:title', value: 'second, @{Document[\"dc:title\"]}'}\n")
	w.save("name: T.B\norder: 1\nevents: [seen]\nrun: Document.SetProperty\nparams: {xpath: 'dc:title', value: first}\n")
	w.must(w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": "f"}))
	w.must(w.run("Administrator", "Event.Fire", storage.Ref("/f"), map[string]any{"name": "seen"}))
	if got := w.property("/f", "dc:title"); got != "second, first" {
		t.Errorf("title %v", got)
	}
	w.save("name: T.C\norder: 3\nevents: [seen]\nrun: Document.GetChild\nparams: {name: x}\n")
	w.save("name: T.B\norder: 1\nevents: [seen]\nrun: Document.SetProperty\nparams: {xpath: 'dc:title', value: changed}\n")
	err := w.run("Administrator", "Event.Fire", storage.Ref("/f"), map[string]any{"name": "seen"})
	if !fault.Is(err, fault.NotFound) || w.property("/f", "dc:title") != "second, first" {
		t.Errorf("got %v, title %v", err, w.property("/f", "dc:title"))
	}
}

// TestFailedJobIsKept looks for the run of a listener whose job failed, as the user who caused the event.
func TestFailedJobIsKept(t *testing.T) {
	w := newWorld(t)
	w.save("name: Bad\nevents: [documentCreated]\ntypes: [File]\nafterCommit: true\nrun: Document.SetProperty\nparams: {xpath: note:note, value: 1}\n")
	w.must(w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": "a"}))
	w.work()
	admin, err := w.engine.PrincipalOf(t.Context(), "Administrator")
	w.must(err)
	runs, more, err := w.engine.EndedRuns(t.Context(), admin, engine.EndedFilter{State: engine.RunFailed, Limit: 1})
	w.must(err)
	if len(runs) != 1 || more || runs[0].Op != "listener Bad" || runs[0].EntryPoint != "listener" || runs[0].Owner != "Administrator" || !strings.Contains(runs[0].Error, "note:note") {
		t.Fatalf("runs %+v, more %v", runs, more)
	}
	_, d, err := w.engine.EndedRun(t.Context(), admin, runs[0].ID)
	w.must(err)
	if !strings.HasPrefix(string(d.Input), `"doc:`) || !strings.Contains(string(d.Context), `"docPath":"/a"`) {
		t.Errorf("input %s, context %s", d.Input, d.Context)
	}
}
