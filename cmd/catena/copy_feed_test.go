package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"catena/storage/postgres/pgtest"
)

// follower is a desktop synchronizer, which asks with the number that it was told last.
type follower struct {
	t    *testing.T
	dir  string
	upTo int64
}

type changes struct {
	Changes []struct{ FileSystemItemName string } `json:"fileSystemChanges"`
	UpTo    int64                                 `json:"upperBound"`
	TooMany bool                                  `json:"hasTooManyChanges"`
}

func (f *follower) ask(p *process) (c changes) {
	f.t.Helper()
	text := p.want(f.t, http.StatusOK, "Administrator", "POST", "/nuxeo/site/automation/NuxeoDrive.GetChangeSummary", fmt.Sprintf(`{"params":{"lowerBound":%d}}`, f.upTo))
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		f.t.Fatal(err)
	}
	f.upTo = c.UpTo
	return c
}

// serve has a server on a store tell of a document that is created.
func (f *follower) serve(name string, moved bool, args ...string) *process {
	f.t.Helper()
	p, before := startServer(f.t, f.dir, args...), f.upTo
	if c := f.ask(p); c.TooMany != moved || len(c.Changes) > 0 || !moved && c.UpTo < before {
		f.t.Errorf("%s: asked with %d: %+v", name, before, c)
	}
	p.want(f.t, http.StatusCreated, "Administrator", "POST", spaces+"/desk", fmt.Sprintf(`{"entity-type":"document","type":"Note","name":%q,"properties":{"dc:title":%q,"note:note":"lighthouse"}}`, name, name))
	if c := f.ask(p); c.TooMany || len(c.Changes) != 1 || !strings.HasPrefix(c.Changes[0].FileSystemItemName, name) {
		f.t.Errorf("after %s was created: %+v", name, c)
	}
	return p
}

// TestCopyFeed: a synchronizer that comes to a store that was filled from another one is told to read everything again, and then
// of every change, whichever kind the stores are of. What was not in the full-text index is put into it.
func TestCopyFeed(t *testing.T) {
	store, second, dir := pgtest.Database(t), pgtest.Database(t), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	first, content := at("first"), at("content")
	t.Setenv("CATENA_PASSWORD", adminPassword)
	p := startServer(t, first)
	p.want(t, http.StatusCreated, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Workspace","name":"desk"}`)
	p.want(t, http.StatusNoContent, "Administrator", "POST", "/nuxeo/site/automation/NuxeoDrive.SetSynchronization", inputCall(`{"enable":true}`, "/default-domain/workspaces/desk"))
	f := &follower{t: t, dir: first, upTo: -1}
	f.ask(p)
	p.stop(t)
	f.serve("one", false).kill() // before the document is indexed

	run := func(args ...string) {
		t.Helper()
		if code, out, errs := line(t, args...); code != 0 {
			t.Fatalf("%s: %d %s%s", args, code, out, errs)
		}
	}
	run("copy", first, store, "--blobs", content)
	if pendingRows(t, store) == 0 {
		t.Error("nothing was left to index")
	}
	f.dir = at("node")
	p = f.serve("two", true, "--store", store, "--blobs", content)
	for deadline := time.Now().Add(20 * time.Second); pendingRows(t, store) > 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	if n := pendingRows(t, store); n > 0 {
		t.Errorf("%d rows are left to index", n)
	}
	p.stop(t)
	p = f.serve("three", false, "--store", store, "--blobs", content) // the same store
	run("backup", at("copy"), "--server", p.base)
	p.stop(t)

	afterwards := *f
	run("copy", store, at("back"), "--blobs", content)
	f.dir = at("back")
	p = f.serve("four", true)
	found(t, p, "one", "two", "three", "four")
	p.kill()
	f.serve("five", false).stop(t)

	// A database that has given fewer numbers than the one of the backup.
	f = &afterwards
	run("restore", at("copy"), "--store", second, "--blobs", at("other"), "--data", at("node2"))
	f.dir = at("node2")
	f.serve("six", true, "--store", second, "--blobs", at("other")).stop(t)
	run("restore", at("copy"), "--data", at("restored"))
	f.dir = at("restored")
	p = f.serve("seven", true)
	found(t, p, "one", "two", "three", "seven")
}

// found wants documents to be what full text finds.
func found(t *testing.T, p *process, want ...string) {
	t.Helper()
	var page struct{ Entries []struct{ Title string } }
	text := p.want(t, http.StatusOK, "Administrator", "GET", "/api/v1/search/lang/NXQL/execute?query=SELECT+*+FROM+Note+WHERE+ecm:fulltext='lighthouse'+AND+ecm:isVersion=0+ORDER+BY+dc:created", "")
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range page.Entries {
		got = append(got, e.Title)
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// pendingRows is how many rows of documents a database has that are not in the full-text index.
func pendingRows(t testing.TB, store string) (n int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(context.Background()) }()
	if err := c.QueryRow(t.Context(), `SELECT count(*) FROM catena.kv WHERE k >= '\x7703' AND k < '\x7704'`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
