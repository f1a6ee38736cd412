package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"catena/rest"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/kv"
	"catena/storage/postgres"
	"catena/storage/postgres/pgtest"
)

// tripCounter is a store that remembers how often each transaction waited for it before its commit.
type tripCounter struct {
	*postgres.Store
	mu    sync.Mutex
	trips []int
	trace []string
}

func (c *tripCounter) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := c.Store.Begin(ctx, write)
	if err != nil {
		return nil, err
	}
	return &tripCounted{Remote: s.(kv.Remote), of: c}, nil
}

type tripCounted struct {
	kv.Remote
	of    *tripCounter
	trips int
	done  bool
}

func (c *tripCounted) Commit(ctx context.Context, b *kv.Batch) error {
	c.trips, c.done = c.RoundTrips(), true
	return c.Remote.Commit(ctx, b)
}

func (c *tripCounted) Discard() {
	if !c.done {
		c.trips = c.RoundTrips()
	}
	c.of.mu.Lock()
	c.of.trips = append(c.of.trips, c.trips)
	c.of.mu.Unlock()
	c.Remote.Discard()
}

// most returns the most round trips of one transaction since it was called last.
func (c *tripCounter) most() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, trips := range c.trips {
		n = max(n, trips)
	}
	c.trips, c.trace = nil, nil
	return n
}

// TestRoundTrips bounds how often the transaction of a request waits for the database before its commit. What a first request finds
// out for later ones is not counted. A document comes together with who asks, the rows of an index together with their documents,
// and what enrichers know of all documents of a page at once. Only the favorites of a user are looked up by name, folder by folder.
func TestRoundTrips(t *testing.T) {
	ctx := context.Background()
	quiet := slog.New(slog.DiscardHandler)
	pg, err := postgres.Open(ctx, pgtest.Address(t), postgres.Options{Log: quiet, Schema: pgtest.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	store := &tripCounter{Store: pg}
	s := resttest.Start(t, resttest.Config{
		Storage: func(c *storage.Config) { c.DB = kv.New(store, kv.Options{}) },
		Rest:    func(c *rest.Config) { c.Limits.Rate = -1 },
	})
	s.User("bob")
	do := func(method, path, body string) {
		t.Helper()
		if a := s.Do(method, "/nuxeo/api/v1"+path, body, "as", "bob"); a.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %.300s", method, path, a.Status, a.Text)
		}
	}
	admin := func(method, path, body string) *resttest.Answer { return s.Do(method, "/nuxeo/api/v1"+path, body) }
	folder := admin("POST", "/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"desk"}`).JSON(t)["uid"].(string)
	admin("POST", "/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"/default-domain/workspaces/desk"}`)
	for i := range 50 {
		do("POST", "/id/"+folder, fmt.Sprintf(`{"entity-type":"document","type":"File","name":"d%d","properties":{"dc:title":"%d"}}`, i, i))
	}
	one := admin("GET", "/path/default-domain/workspaces/desk/d7", "").JSON(t)["uid"].(string)
	n := 0
	for _, r := range []struct {
		what, method, path, body string
		most                     int
	}{
		{"a document", "GET", "/id/" + one, "", 1},
		{"a document with permissions and enrichers", "GET", "/id/" + one + "?enrichers.document=permissions,acls,breadcrumb&properties=*", "", 2},
		{"a page with permissions and enrichers", "GET", "/id/" + folder + "/@children?pageSize=50&enrichers.document=permissions&properties=*", "", 2},
		{"a query", "GET", "/search/lang/NXQL/execute?pageSize=50&query=SELECT+*+FROM+File+WHERE+dc:title+%3E+'1'+ORDER+BY+dc:title", "", 2},
		{"a search in a folder", "GET", "/search/lang/NXQL/execute?pageSize=50&query=SELECT+*+FROM+Document+WHERE+ecm:parentId='" + folder + "'+AND+dc:description+IS+NULL+ORDER+BY+dc:modified+DESC", "", 2},
		{"a page with breadcrumbs, thumbnails and tags", "GET", "/search/lang/NXQL/execute?pageSize=50&enrichers.document=acls,breadcrumb,permissions,tags,thumbnail,favorites,collections,renditions&query=SELECT+*+FROM+File+ORDER+BY+dc:title", "", 4},
		{"a document by its path", "GET", "/path/default-domain/workspaces/desk/d7", "", 2},
		{"a page of children", "POST", "/automation/Document.GetChildren", `{"input":"` + folder + `"}`, 2},
		{"a creation", "POST", "/id/" + folder, `{"entity-type":"document","type":"File","name":"new%d"}`, 2},
		{"a change", "PUT", "/id/" + one, `{"entity-type":"document","properties":{"dc:description":"%d"}}`, 1},
	} {
		got, trace := 0, []string(nil)
		for range 3 { // the last one counts
			n++
			body := r.body
			if strings.Contains(body, "%d") {
				body = fmt.Sprintf(body, n)
			}
			store.most()
			do(r.method, r.path, body)
			if n%3 == 0 {
				trace = store.trace
			}
			got = store.most()
		}
		t.Logf("%s: %d round trips", r.what, got)
		if got > r.most {
			t.Errorf("%s: %d round trips, want %d at most\n%s", r.what, got, r.most, strings.Join(trace, "\n"))
		}
	}
}
