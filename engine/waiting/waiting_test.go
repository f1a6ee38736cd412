package waiting_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"catena/chains"
	"catena/engine"
	"catena/engine/waiting"
	"catena/engine/workflow"
	"catena/ops"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world is an engine with its waiting chains on a store in memory, under a clock that is set.
type world struct {
	t      *testing.T
	repo   *storage.Repo
	engine *engine.Engine
	chains *chains.Chains
	runs   *waiting.Runs
	clock  atomic.Int64
	limits engine.Limits
	db     *kv.DB
	second func() *storage.Repo // as another server has the repository
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t}
	w.clock.Store(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC).UnixMilli())
	w.repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock, c.BlobGrace = w.now, time.Nanosecond
		c.Owners = append(append(c.Owners, waiting.Owner), ops.Owners...)
		config := *c
		w.db = c.DB
		w.second = func() *storage.Repo {
			repo, err := storage.Open(t.Context(), config, "")
			w.must(err)
			t.Cleanup(func() { w.must(repo.Close()) })
			workflow.Watch(repo)
			return repo
		}
	})
	workflow.Watch(w.repo)
	w.runs = waiting.New()
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
	_, err := w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "Folder", "name": "a"})
	w.must(err)
	return w
}

func (w *world) now() time.Time { return time.UnixMilli(w.clock.Load()) }

// start makes the engine.
func (w *world) start() {
	w.chains = chains.New()
	set, err := engine.NewSet(append(ops.All(ops.Config{}), w.chains.Ops(), w.runs.Ops())...)
	w.must(err)
	set, err = chains.Builtin(set)
	w.must(err)
	w.engine = engine.New(engine.Config{Repo: w.repo, Set: set, Log: slog.New(slog.DiscardHandler), Clock: w.now, Keeper: w.runs, Limits: w.limits})
	w.must(w.runs.Load(w.t.Context(), w.engine))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run(user, op string, in any, params map[string]any) (any, error) {
	w.t.Helper()
	as, err := w.engine.PrincipalOf(w.t.Context(), user)
	w.must(err)
	r, err := w.engine.Run(w.t.Context(), engine.Call{Op: op, Input: in, Params: params, As: as, EntryPoint: engine.REST})
	if err != nil {
		return nil, err
	}
	return r.Value, nil
}

func (w *world) save(source string) {
	w.t.Helper()
	_, err := w.run("Administrator", "Chain.Save", nil, map[string]any{"source": source})
	w.must(err)
}

// title is that of the document /a, the place where these tests note what has happened.
func (w *world) title() string {
	w.t.Helper()
	v, err := w.run("Administrator", "Repository.GetDocument", nil, map[string]any{"value": "/a"})
	w.must(err)
	return v.(*storage.Doc).Title()
}

func (w *world) waiting(user string) (list []map[string]any) {
	w.t.Helper()
	v, err := w.run(user, "Run.Waiting", nil, nil)
	w.must(err)
	for _, item := range v.([]any) {
		list = append(list, item.(map[string]any))
	}
	return list
}

// pass lets time go by, and carries out what has become due; each job is carried out twice, as it is if the server is
// killed before it has noted that a job was done.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	w.clock.Add(d.Milliseconds())
	twice := outbox.Handlers{}
	for kind, h := range w.runs.Jobs(w.repo) {
		twice[kind] = outbox.Handler{Do: func(ctx context.Context, j outbox.Job) error {
			if err := h.Do(ctx, j); err != nil {
				return err
			}
			return h.Do(ctx, j)
		}}
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, w.repo, twice) }()
	for ctx.Err() == nil && w.due() {
		time.Sleep(2 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
}

func (w *world) due() bool {
	w.t.Helper()
	var jobs []outbox.State
	w.must(w.repo.View(w.t.Context(), w.repo.System(), func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, "", "", 1000)
		return err
	}))
	for _, j := range jobs {
		if j.State == outbox.Runs || j.State == outbox.Waits && !j.Due.After(w.now()) {
			return true
		}
	}
	return false
}

// add is a step that appends a text to the title of the document.
func add(text string) string {
	return fmt.Sprintf("  - op: Document.SetProperty\n    params: {xpath: \"dc:title\", value: \"@{Document.title}%s\"}\n", text)
}

func TestTime(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nparams: [{name: n, type: integer}]\nsteps:\n" + add("1") + "    as: before\n  - wait: 1h\n" + add("@{n}") + "  - wait: {until: \"2026-03-28T15:00:00Z\"}\n" + add("@{Waited}@{before.name}"))
	v, err := w.run("bob", "T.Wait", storage.Ref("/a"), map[string]any{"n": 2})
	w.must(err)
	run := v.(map[string]any)
	if run["state"] != "waiting" || run["until"] != "2026-03-28T13:00:00Z" || run["user"] != "bob" {
		t.Errorf("the caller got %v", run)
	}
	for _, c := range []struct {
		pass time.Duration
		want string
		left int
	}{{0, "a1", 1}, {59 * time.Minute, "a1", 1}, {time.Minute, "a12", 1}, {time.Hour, "a12", 1}, {time.Hour, "a12timea", 0}, {24 * time.Hour, "a12timea", 0}} {
		w.pass(c.pass)
		list := w.waiting("bob")
		if got := w.title(); got != c.want || len(list) != c.left {
			t.Errorf("at %s: title %q, want %q; waiting %v", w.now(), got, c.want, list)
		}
		if len(list) > 0 && list[0]["run"] != run["run"] {
			t.Errorf("the run has another id: %v", list[0])
		}
	}
}

// TestVersion: a chain goes on in the version in which it began, and not at all once it is deleted.
func TestVersion(t *testing.T) {
	w := newWorld(t)
	chain := func(text string) { w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n" + add(text)) }
	start := func() {
		_, err := w.run("Administrator", "T.Wait", storage.Ref("/a"), nil)
		w.must(err)
	}
	chain("old")
	start()
	chain("new")
	start()
	w.pass(time.Hour)
	if got := w.title(); got != "aoldnew" && got != "anewold" {
		t.Errorf("title %q", got)
	}
	start()
	_, err := w.run("Administrator", "Chain.Delete", nil, map[string]any{"name": "T.Wait"})
	w.must(err)
	w.pass(time.Hour)
	list := w.waiting("Administrator")
	if len(list) != 1 || list[0]["state"] != "failed" || !strings.Contains(list[0]["failure"].(string), "no longer deployed") {
		t.Errorf("a deleted chain: %v", list)
	}
}

func TestEvent(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: {event: documentLocked, for: 2h}\n" + add("@{Waited}"))
	start := func() map[string]any {
		v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
		w.must(err)
		return v.(map[string]any)
	}
	start()
	w.pass(time.Hour)
	if got := w.title(); got != "a" {
		t.Errorf("before the event: %q", got)
	}
	_, err := w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "File", "name": "b"})
	w.must(err)
	_, err = w.run("Administrator", "Document.Lock", storage.Ref("/b"), nil)
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "a" {
		t.Errorf("the event of another document: %q", got)
	}
	_, err = w.run("Administrator", "Document.Lock", storage.Ref("/a"), nil)
	w.must(err)
	_, err = w.run("Administrator", "Document.Unlock", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(0)
	w.pass(3 * time.Hour) // the end of the time finds nothing
	if got := w.title(); got != "aevent" {
		t.Errorf("after the event: %q", got)
	}
	start()
	w.pass(2 * time.Hour)
	if got := w.title(); got != "aeventtimeout" {
		t.Errorf("after the time: %q", got)
	}
	id := start()["run"]
	_, err = w.run("bob", "Run.Continue", nil, map[string]any{"id": id})
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "aeventtimeoutasked" {
		t.Errorf("asked to go on: %q", got)
	}
	id = start()["run"]
	_, err = w.run("bob", "Run.Stop", nil, map[string]any{"id": id})
	w.must(err)
	start()
	_, err = w.run("Administrator", "Document.Delete", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(0)
	if list := w.waiting("Administrator"); len(list) != 0 {
		t.Errorf("stopped, and the document is erased: %v", list)
	}
}

// TestTask waits for the task of a workflow that the chain itself has begun.
func TestTask(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - op: Context.StartWorkflow\n    params: {id: SerialDocumentReview, start: \"true\", variables: {participants: \"user:bob\", validationOrReview: simpleReview}}\n  - wait: {task: true}\n" + add("@{Waited} @{WaitedAction}"))
	_, err := w.run("Administrator", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(time.Hour)
	if got := w.title(); got != "a" {
		t.Errorf("before: %q", got)
	}
	v, err := w.run("Administrator", "Workflow.GetOpenTasks", storage.Ref("/a"), nil)
	w.must(err)
	docs := v.(storage.Docs)
	if len(docs) != 1 {
		t.Fatalf("tasks: %v", docs)
	}
	_, err = w.run("Administrator", "WorkflowTask.Complete", docs[0], map[string]any{"status": "start_review"})
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "atask start_review" {
		t.Errorf("after: %q", got)
	}
}

// TestBatches works on 25 documents in transactions of 10, and goes on behind them.
func TestBatches(t *testing.T) {
	w := newWorld(t)
	for i := range 25 {
		_, err := w.run("Administrator", "Document.Create", storage.Ref("/"), map[string]any{"type": "Note", "name": fmt.Sprintf("n%02d", i)})
		w.must(err)
	}
	w.save(`name: T.All
steps:
  - op: Repository.Query
    params: {query: "SELECT * FROM Note WHERE ecm:isVersion = 0", pageSize: 3}
  - each: input
    batch: 10
    steps:
` + "      " + strings.ReplaceAll(strings.TrimSpace(add("!")), "\n", "\n    ") + `
  - op: Repository.GetDocument
    params: {value: /a}
` + add("done"))
	v, err := w.run("bob", "T.All", nil, nil)
	w.must(err)
	if run := v.(map[string]any); run["batches"] != int64(3) || run["state"] != "ready" {
		t.Errorf("the caller got %v", run)
	}
	if got := w.title(); got != "a" {
		t.Errorf("before: %q", got)
	}
	_, err = w.run("Administrator", "Document.Delete", storage.Ref("/n07"), nil)
	w.must(err)
	w.pass(0)
	if got := w.title(); got != "adone" {
		t.Errorf("after: %q, %v", got, w.waiting("bob"))
	}
	v, err = w.run("Administrator", "Repository.Query", nil, map[string]any{"query": "SELECT * FROM Note WHERE ecm:isVersion = 0", "pageSize": 100})
	w.must(err)
	for _, d := range v.(*storage.Page).Docs {
		if d.Title() != d.Name()+"!" {
			t.Errorf("%s: title %q", d.Path(), d.Title())
		}
	}
	w.must(w.repo.View(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		for _, table := range []string{"waiting", "waiting.event", "waiting.item"} {
			for key := range tx.Table(table).Scan("", "", false, 0) {
				t.Errorf("left in %s: %s", table, key)
			}
		}
		return nil
	}))
}

// TestFailure: a failure is shown, and the run can be continued once its cause is gone.
func TestFailure(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n" + add("1") + "  - op: Document.GetChild\n    params: {name: missing}\n")
	_, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	w.pass(time.Hour)
	list := w.waiting("bob")
	if len(list) != 1 || list[0]["state"] != "failed" || w.title() != "a" {
		t.Fatalf("title %q, %v", w.title(), list)
	}
	if _, err := w.run("Administrator", "Document.Create", storage.Ref("/a"), map[string]any{"type": "File", "name": "missing"}); err != nil {
		t.Skip(err)
	}
	_, err = w.run("bob", "Run.Continue", nil, map[string]any{"id": list[0]["run"]})
	w.must(err)
	w.pass(0)
	if list := w.waiting("bob"); len(list) != 0 || w.title() != "a1" {
		t.Errorf("title %q, %v", w.title(), list)
	}
}

// TestWhose: others' runs are not seen, and a user who is gone leaves none.
func TestWhose(t *testing.T) {
	w := newWorld(t)
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n")
	v, err := w.run("bob", "T.Wait", storage.Ref("/a"), nil)
	w.must(err)
	id := v.(map[string]any)["run"]
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "eve"}, "")
	}))
	if list := w.waiting("eve"); len(list) != 0 {
		t.Errorf("eve sees %v", list)
	}
	if _, err := w.run("eve", "Run.Stop", nil, map[string]any{"id": id}); !fault.Is(err, fault.NotFound) {
		t.Errorf("eve stops: %v", err)
	}
	if list := w.waiting("Administrator"); len(list) != 1 {
		t.Errorf("an administrator sees %v", list)
	}
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") }))
	if list := w.waiting("Administrator"); len(list) != 0 {
		t.Errorf("bob is gone: %v", list)
	}
}

// TestFiles: the files of a chain that waits are there when it goes on, however often it waits and in batches, although no
// document has them and what nobody refers to is swept meanwhile; then they are let go.
func TestFiles(t *testing.T) {
	w := newWorld(t)
	w.save(`name: T.File
input: blob
steps:
  - op: Context.SetVar
    params: {name: both, value: "expr:[This, 'x']"}
  - wait: 1h
  - wait: 1h
  - each: "both"
    batch: 1
    steps:
      - if: item != 'x'
        then:
          - op: Context.SetVar
            params: {name: said, value: "@{item.getString()} of @{item.name}, @{item.length} bytes"}
          - op: Repository.GetDocument
            params: {value: /a}
          - op: Document.SetProperty
            params: {xpath: "dc:title", value: "@{said}"}
`)
	file := engine.NewBlob("a.txt", "text/plain", []byte("the content"))
	_, err := w.run("bob", "T.File", file, nil)
	w.must(err)
	there := func() bool {
		w.must(w.repo.Sweep(t.Context()))
		_, err := w.repo.Blobs().Load(*file).Bytes(100)
		return err == nil
	}
	for i := range 2 {
		if !there() {
			t.Fatalf("after %d waits the content is gone", i)
		}
		w.pass(90 * time.Minute)
	}
	if got := w.title(); got != "the content of a.txt, 11 bytes" {
		t.Errorf("title %q", got)
	}
	if list := w.waiting("bob"); len(list) != 0 {
		t.Errorf("still there: %v", list)
	}
	if w.clock.Add((30 * 24 * time.Hour).Milliseconds()); there() {
		t.Error("the content is still held")
	}
}

// TestMost: a user has so many chains that wait and no more, whatever others have; one that goes on and waits again counts once.
func TestMost(t *testing.T) {
	w := newWorld(t)
	w.limits.UserWaiting = 2
	w.start()
	w.save("name: T.Wait\ninput: document\nsteps:\n  - wait: 1h\n  - wait: 1h\n" + add("x"))
	begin := func(user string) error {
		_, err := w.run(user, "T.Wait", storage.Ref("/a"), nil)
		return err
	}
	w.must(begin("bob"))
	w.must(begin("bob"))
	if err := begin("bob"); !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "user bob: 2 chains are waiting, limit 2") {
		t.Errorf("the third one: %v", err)
	}
	w.must(begin("Administrator"))
	w.pass(time.Hour) // they wait once more
	if n := len(w.waiting("bob")); n != 2 {
		t.Errorf("%d wait", n)
	}
	w.pass(time.Hour)
	if n := len(w.waiting("bob")); n != 0 {
		t.Errorf("%d wait", n)
	}
	w.must(begin("bob"))
}
