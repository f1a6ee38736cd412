package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"catena/engine"
	"catena/ops/bulk"
	"catena/ops/document"
	"catena/ops/property"
	"catena/storage"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/search"
	"catena/storage/storagetest"
)

// world is a repository with 25 files, 5 of them locked by somebody else.
type world struct {
	*storage.Repo
	t *testing.T
	e *engine.Engine
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Repo: storagetest.Open(t, nil), t: t}
	set, err := engine.NewSet(bulk.Ops, document.Ops, property.Ops)
	w.must(err)
	w.e = engine.New(engine.Config{Repo: w.Repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	w.must(w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		if err := people.SaveUser(tx, &people.User{Username: "bob"}, storagetest.Password); err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if _, err := tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}}); err != nil {
			return err
		}
		for i := range 25 {
			d, err := tx.Create(root, "File", fmt.Sprintf("f%02d", i), nil)
			if err != nil {
				return err
			}
			if i%5 == 0 {
				if _, err := tx.Lock(d); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) run(op string, params map[string]any) map[string]any {
	w.t.Helper()
	m, _ := w.value(op, params).(map[string]any)
	return m
}

func (w *world) value(op string, params map[string]any) any {
	w.t.Helper()
	bob, err := w.e.PrincipalOf(w.t.Context(), "bob")
	w.must(err)
	return w.valueAs(bob, op, params)
}

func (w *world) valueAs(as *engine.Principal, op string, params map[string]any) any {
	w.t.Helper()
	res, err := w.e.Run(w.t.Context(), engine.Call{Op: op, Params: params, As: as, EntryPoint: engine.REST})
	w.must(err)
	return res.Value
}

// onInput runs an operation on an input, as bob.
func (w *world) onInput(op string, input any, params map[string]any) any {
	w.t.Helper()
	bob, err := w.e.PrincipalOf(w.t.Context(), "bob")
	w.must(err)
	res, err := w.e.Run(w.t.Context(), engine.Call{Op: op, Input: input, Params: params, As: bob, EntryPoint: engine.REST})
	w.must(err)
	return res.Value
}

// work carries out jobs until the command has ended.
func (w *world) work(id string) map[string]any {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{bulk.JobKind: {Do: bulk.Job(w.e)}})
	}()
	for ctx.Err() == nil {
		if s := w.status(id)["state"]; s == "COMPLETED" || s == "ABORTED" {
			break
		}
		time.Sleep(3 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
	return w.status(id)
}

// status is how far a command is, as an administrator sees it.
func (w *world) status(id string) map[string]any {
	w.t.Helper()
	m, _ := w.valueAs(w.System(), "Bulk.Get", map[string]any{"commandId": id}).(map[string]any)
	return m
}

func (w *world) count(query string) (n int) {
	w.t.Helper()
	w.must(w.View(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		p, err := search.Query(tx, query, search.Options{})
		if err == nil {
			n = p.Total
		}
		return err
	}))
	return n
}

func TestActions(t *testing.T) {
	for _, c := range []struct {
		action, params, after string
		errors, left          int
	}{
		{"trash", "", "SELECT * FROM File WHERE ecm:isTrashed = 1", 5, 20},
		{"setProperties", `{"dc:title": "all"}`, "SELECT * FROM File WHERE dc:title = 'all'", 5, 20},
		{"setProperties", `{"dc:nope": "all"}`, "SELECT * FROM File WHERE dc:title = 'all'", 25, 0},
		{"deletion", "", "SELECT * FROM File", 5, 5},
		{"removeProxy", "", "SELECT * FROM File", 0, 25},
		{"automation", `{"operationId": "Document.SetProperty", "operationParameters": {"xpath": "dc:title", "value": "x"}}`, "SELECT * FROM File WHERE dc:title = 'x'", 5, 20},
		{"automationUi", `{"operationId": "Document.SetProperty", "parameters": {"xpath": "dc:title", "value": "y"}}`, "SELECT * FROM File WHERE dc:title = 'y'", 5, 20},
	} {
		t.Run(c.action, func(t *testing.T) {
			w := newWorld(t)
			cmd := w.run("Bulk.RunAction", map[string]any{"action": c.action, "query": "SELECT * FROM File", "parameters": c.params, "batchSize": 4})
			id, _ := cmd["commandId"].(string)
			got := w.work(id)
			if got["state"] != "COMPLETED" || got["processed"] != 25 || got["total"] != 25 || got["errorCount"] != c.errors || got["error"] != (c.errors > 0) {
				t.Errorf("status %v", got)
			}
			if n := w.count(c.after); n != c.left {
				t.Errorf("%d documents, want %d", n, c.left)
			}
		})
	}
}

// TestExcept: documents that are left out stay as they are.
func TestExcept(t *testing.T) {
	w := newWorld(t)
	var out []string
	w.must(w.View(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		p, err := search.Query(tx, "SELECT * FROM File", search.Options{})
		if err == nil {
			out = []string{p.Docs[3].ID(), p.Docs[20].ID(), "01a217b0-0000-7000-8000-000000000000"}
		}
		return err
	}))
	cmd := w.run("Bulk.RunAction", map[string]any{"action": "setProperties", "query": "SELECT * FROM File", "excludeDocs": out, "parameters": `{"dc:source": "all"}`})
	id, _ := cmd["commandId"].(string)
	if got := w.work(id); got["total"] != 23 || got["processed"] != 23 {
		t.Errorf("status %v", got)
	}
	if n := w.count("SELECT * FROM File WHERE dc:source = 'all' AND ecm:uuid IN ('" + out[0] + "', '" + out[1] + "')"); n != 0 {
		t.Errorf("%d documents that were left out have changed", n)
	}
}

// TestAgain: a server that stops in the middle goes on with the next batch, and does nothing twice.
func TestAgain(t *testing.T) {
	w := newWorld(t)
	stop := errors.New("stop")
	changes := 0
	w.OnEvent(func(_ *storage.Tx, e storage.Event) error {
		if e.Name != "documentModified" {
			return nil
		}
		if changes++; changes == 9 {
			panic(stop)
		}
		return nil
	})
	cmd := w.run("Bulk.RunAction", map[string]any{"action": "setProperties", "query": "SELECT * FROM File", "parameters": `{"dc:title": "all"}`, "batchSize": 4})
	id, _ := cmd["commandId"].(string)
	if got := w.work(id); got["state"] != "COMPLETED" || got["processed"] != 25 || got["errorCount"] != 5 {
		t.Errorf("status %v", got)
	}
	var versions []string
	w.must(w.View(t.Context(), w.System(), func(tx *storage.Tx) error {
		for i := range 25 {
			d, err := tx.Doc(storage.Ref(fmt.Sprintf("/f%02d", i)))
			if err != nil {
				return err
			}
			versions = append(versions, d.ChangeToken())
		}
		return nil
	}))
	for i, token := range versions {
		if i%5 != 0 && !strings.HasSuffix(token, "-1") {
			t.Errorf("f%02d was changed more than once: %s", i, token)
		}
	}
}

// TestBadQuery: a command ends with the reason if its query is wrong, or finds a plan instead of documents.
func TestBadQuery(t *testing.T) {
	w := newWorld(t)
	const explain = "EXPLAIN\nSELECT * FROM File"
	for _, c := range []struct{ as, query, reason string }{
		{"bob", "SELECT nothing", "query:"},
		{"bob", explain, "only administrators may explain queries"},
		{"Administrator", explain, "query: EXPLAIN says how a query runs, and finds no documents"},
	} {
		as, err := w.e.PrincipalOf(t.Context(), c.as)
		w.must(err)
		cmd, _ := w.valueAs(as, "Bulk.RunAction", map[string]any{"action": "trash", "query": c.query}).(map[string]any)
		got := w.work(fmt.Sprint(cmd["commandId"]))
		if message, _ := got["errorMessage"].(string); got["state"] != "ABORTED" || got["error"] != true || !strings.HasPrefix(message, c.reason) {
			t.Errorf("%s, %s: status %v", c.as, c.query, got)
		}
	}
}

func TestAbort(t *testing.T) {
	w := newWorld(t)
	cmd := w.run("Bulk.RunAction", map[string]any{"action": "trash", "query": "SELECT * FROM File"})
	id, _ := cmd["commandId"].(string)
	if got := w.run("Bulk.Abort", map[string]any{"commandId": id}); got["state"] != "ABORTED" {
		t.Errorf("status %v", got)
	}
	if got := w.work(id); got["processed"] != 0 || w.count("SELECT * FROM File WHERE ecm:isTrashed = 1") != 0 {
		t.Errorf("status %v", got)
	}
}

// TestGivenUp: a command whose work was given up has ended, with the reason.
func TestGivenUp(t *testing.T) {
	w := newWorld(t)
	id := fmt.Sprint(w.run("Bulk.RunAction", map[string]any{"action": "trash", "query": "SELECT * FROM File"})["commandId"])
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	never := func(context.Context, outbox.Job) error {
		return &outbox.GaveUp{Err: errors.New("the disk is full")}
	}
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{bulk.JobKind: {Do: never, Buried: bulk.Buried(w.e)}})
	}()
	for ctx.Err() == nil && w.status(id)["state"] != "ABORTED" {
		time.Sleep(3 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
	if s := w.status(id); s["state"] != "ABORTED" || s["errorMessage"] != "the disk is full" || s["error"] != true {
		t.Errorf("%v", s)
	}
	// Nobody ends a command of which another job was given up.
	w.must(bulk.Buried(w.e)(t.Context(), outbox.Job{Kind: bulk.JobKind, Data: []byte(`{"command":"none"}`)}))
	w.must(bulk.Buried(w.e)(t.Context(), outbox.Job{Kind: bulk.JobKind, Data: []byte(`{"command":"` + id + `","forget":true}`)}))
}

// TestForgotten: a command is forgotten a week after it has changed last, and not while it works.
func TestForgotten(t *testing.T) {
	w := newWorld(t)
	id := fmt.Sprint(w.run("Bulk.RunAction", map[string]any{"action": "trash", "query": "SELECT * FROM File"})["commandId"])
	forget := outbox.Job{Kind: bulk.JobKind, Data: []byte(`{"command":"` + id + `","forget":true}`)}
	var later *outbox.Later
	if err := bulk.Job(w.e)(t.Context(), forget); !errors.As(err, &later) || time.Until(later.At) < 6*24*time.Hour {
		t.Errorf("a command that works is forgotten: %v", err)
	}
	w.work(id)
	if err := bulk.Job(w.e)(t.Context(), forget); !errors.As(err, &later) {
		t.Errorf("a result is forgotten at once: %v", err)
	}
	if s := w.status(id)["state"]; s != "COMPLETED" {
		t.Errorf("state %v", s)
	}
}
