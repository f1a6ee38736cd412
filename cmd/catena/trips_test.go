package main

import (
	"context"
	"crypto/md5"
	"encoding/base64"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/chains"
	"catena/engine/delivery"
	"catena/engine/library"
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

	atOnce  int // transactions that did not wait, because all they read came with who asks
	fetched int // keys that were prefetched
	unread  int // rows that commits have asked for, to watch them
}

func (c *tripCounter) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	s, err := c.Store.Begin(ctx, write)
	if err != nil {
		return nil, err
	}
	return &tripCounted{Remote: s.(kv.Remote), of: c, asked: map[string]bool{}}, nil
}

// BeginOptimistic counts the views that find out who makes a request together with the one that answers it.
func (c *tripCounter) BeginOptimistic(ctx context.Context, before kv.Snapshot) (kv.Snapshot, error) {
	if b, ok := before.(*tripCounted); ok {
		before = b.Remote
	}
	s, err := c.Store.BeginOptimistic(ctx, before)
	if err != nil {
		return nil, err
	}
	return &tripCounted{Remote: s.(kv.Remote), of: c, asked: map[string]bool{}}, nil
}

type tripCounted struct {
	kv.Remote
	of    *tripCounter
	trips int
	done  bool
	asked map[string]bool // keys that were prefetched
}

func (c *tripCounted) Commit(ctx context.Context, b *kv.Batch) error {
	c.trips, c.done = c.RoundTrips(), true
	for _, k := range b.Reads.Keys {
		if !c.asked[string(k)] {
			c.of.mu.Lock()
			c.of.unread++
			c.of.mu.Unlock()
		}
	}
	return c.Remote.Commit(ctx, b)
}

func (c *tripCounted) Discard() {
	if !c.done {
		c.trips = c.RoundTrips()
	}
	c.of.mu.Lock()
	if c.of.trips = append(c.of.trips, c.trips); c.trips == 0 {
		c.of.atOnce++
	}
	c.of.mu.Unlock()
	c.Remote.Discard()
}

// counted returns the most round trips of one transaction since it was called last, and those of all of them.
func (c *tripCounter) counted() (most, all int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, trips := range c.trips {
		most, all = max(most, trips), all+trips
	}
	c.trips, c.trace, c.unread, c.fetched = nil, nil, 0, 0
	return most, all
}

// trips is a server on PostgreSQL whose transactions are counted, and a user who makes requests.
type trips struct {
	*testing.T
	s     *resttest.Server
	store *tripCounter
	n     int // requests that were made to be counted

	headers []string // by which the user signs in
}

// tripPortal is the secret of a portal that signs users in.
const tripPortal = "portal"

func newTrips(t *testing.T) *trips {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	pg, err := postgres.Open(t.Context(), pgtest.Address(t), postgres.Options{Log: quiet, Schema: pgtest.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	w := &trips{T: t, store: &tripCounter{Store: pg}, headers: []string{"as", "bob"}}
	w.s = resttest.Start(t, resttest.Config{
		Deployed: func() library.Deployments { return library.Deployments{chains.New()} },
		Storage:  func(c *storage.Config) { c.DB = kv.New(w.store, kv.Options{}) },
		Rest:     func(c *rest.Config) { c.Limits.Rate, c.Portal = -1, tripPortal },
	})
	delivery.New(w.s.Repo, nil, quiet, nil) // asks at every event who wants to know
	w.s.User("bob")
	return w
}

// do makes a request as the user.
func (w *trips) do(method, path, body string) *resttest.Answer {
	w.Helper()
	a := w.s.Do(method, "/nuxeo/api/v1"+path, body, w.headers...)
	if a.StatusCode >= 300 {
		w.Fatalf("%s %s: %s %.300s", method, path, a.Status, a.Text)
	}
	return a
}

// tripRequest is a request, with the number of times it was made for %d, and with the most round trips that one of its transactions may wait for, and that all of them may.
type tripRequest struct {
	what, method, path, body string
	most, all                int
}

// bounded makes a request and checks its bounds.
func (w *trips) bounded(r tripRequest) {
	w.Helper()
	most, all, trace := math.MaxInt, math.MaxInt, []string(nil)
	// The best one counts: where the machine is busy, views are not joined. Of a query, the plan changes after ten seconds if the number of
	// documents has changed, and what it asks for has to be learned again.
	for i := 0; i < 8 || i < 40 && (most > r.most || all > r.all); i++ {
		w.n++
		n := strconv.Itoa(w.n)
		w.store.counted()
		w.do(r.method, strings.ReplaceAll(r.path, "%d", n), strings.ReplaceAll(r.body, "%d", n))
		if w.n%8 == 0 {
			trace = w.store.trace
		}
		m, a := w.store.counted()
		most, all = min(most, m), min(all, a)
	}
	w.Logf("%s: %d round trips of one transaction, %d of all", r.what, most, all)
	if most > r.most || all > r.all {
		w.Errorf("%s: %d round trips of one transaction and %d of all, want %d and %d at most\n%s", r.what, most, all, r.most, r.all, strings.Join(trace, "\n"))
	}
}

// TestRoundTrips bounds how often the transaction of a request waits for the database before its commit, and how often all do that
// the request causes, the ones that find out who the caller is among them. What first requests find
// out for later ones is not counted, also what these ask for: it comes together with who asks, the rows of an index together with their
// documents. Calls by POST are not predicted, as their bodies say what they are for.
func TestRoundTrips(t *testing.T) {
	w := newTrips(t)
	s, store, do := w.s, w.store, func(method, path, body string) { t.Helper(); w.do(method, path, body) }
	admin := func(method, path, body string) *resttest.Answer { return s.Do(method, "/nuxeo/api/v1"+path, body) }
	folder := admin("POST", "/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"desk"}`).JSON(t)["uid"].(string)
	admin("POST", "/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"/default-domain/workspaces/desk"}`)
	for i := range 50 {
		do("POST", "/id/"+folder, fmt.Sprintf(`{"entity-type":"document","type":"File","name":"d%d","properties":{"dc:title":"%d"}}`, i, i))
	}
	admin("POST", "/automation/Chain.Save", `{"params":{"name":"store.yaml","source":"name: Store.Text\ninput: document\nsteps:\n  - op: Document.Create\n    params: {type: File, name: d7}\n  - op: Document.SetProperty\n    params: {xpath: \"dc:description\", value: text}\n"}}`)
	one := admin("GET", "/path/default-domain/workspaces/desk/d7", "").JSON(t)["uid"].(string)
	const thumbnails = "/search/lang/NXQL/execute?pageSize=50&enrichers.document=acls,breadcrumb,permissions,tags,thumbnail,favorites,collections,renditions&query=SELECT+*+FROM+File+ORDER+BY+dc:title"
	const titled = "/search/lang/NXQL/execute?pageSize=50&query=SELECT+*+FROM+File+WHERE+dc:title+%3E+'1'+ORDER+BY+dc:title"
	for _, r := range []tripRequest{
		{"a document", "GET", "/id/" + one, "", 1, 1},
		{"a document with permissions and enrichers", "GET", "/id/" + one + "?enrichers.document=permissions,acls,breadcrumb&properties=*", "", 1, 1},
		{"a page with permissions and enrichers", "GET", "/id/" + folder + "/@children?pageSize=50&enrichers.document=permissions&properties=*", "", 1, 1},
		{"a page of a folder by title", "GET", "/id/" + folder + "/@children?pageSize=30&sortBy=dc:title&enrichers.document=permissions", "", 1, 1},
		{"a query", "GET", titled, "", 1, 1},
		{"a search in a folder", "GET", "/search/lang/NXQL/execute?pageSize=50&query=SELECT+*+FROM+Document+WHERE+ecm:parentId='" + folder + "'+AND+dc:description+IS+NULL+ORDER+BY+dc:modified+DESC", "", 1, 1},
		{"a page with breadcrumbs, thumbnails and tags", "GET", thumbnails, "", 1, 1},
		{"a document by its path", "GET", "/path/default-domain/workspaces/desk/d7", "", 1, 1},
		{"a page of children", "POST", "/automation/Document.GetChildren", `{"input":"` + folder + `"}`, 2, 3},
		{"a creation", "POST", "/id/" + folder, `{"entity-type":"document","type":"File","name":"new%d"}`, 1, 1},
		{"a creation by an operation", "POST", "/automation/Document.Create", `{"input":"` + folder + `","params":{"type":"File","name":"op%d"}}`, 1, 1},
		{"a change", "PUT", "/id/" + one, `{"entity-type":"document","properties":{"dc:description":"%d"}}`, 1, 1},
		{"a change by an operation", "POST", "/automation/Document.SetProperty", `{"input":"` + one + `","params":{"xpath":"dc:description","value":"%d"}}`, 1, 1},
	} {
		w.bounded(r)
	}
	// What queries begin with is not asked for with a document alone.
	fetched := math.MaxInt
	for range 8 {
		store.counted()
		do("GET", "/id/"+one, "")
		fetched = min(fetched, store.fetched)
	}
	if fetched > 16 {
		t.Errorf("a document is read with %d keys in all its views, want 16 at most: itself, its caller and two more in each", fetched)
	}
	// Words of many documents are indexed together.
	for i := range 20 {
		do("POST", "/id/"+folder, fmt.Sprintf(`{"entity-type":"document","type":"File","name":"words%d","properties":{"dc:title":"word%d common"}}`, i, i))
	}
	words := func() {
		t.Helper()
		store.counted()
		for more := true; more; {
			var err error
			if more, err = s.Repo.IndexText(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		most, _ := store.counted()
		if t.Logf("words: %d round trips of one transaction", most); most > 5 {
			t.Errorf("words are indexed with %d round trips of one transaction, want 5 at most", most)
		}
	}
	words()
	// A folder with hundreds of documents.
	var lines strings.Builder
	for i := range 400 {
		fmt.Fprintf(&lines, `{"name":"m%d","dc:title":"work %03d"}`+"\n", i, i)
	}
	many := admin("POST", "/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"many"}`).JSON(t)["uid"].(string)
	if a := s.Do("POST", "/nuxeo/api/v1/bulk?into=/default-domain/workspaces/many&type=File", lines.String(), "Content-Type", "application/x-ndjson"); a.StatusCode != http.StatusOK {
		t.Fatalf("%s %.300s", a.Status, a.Text)
	}
	admin("POST", "/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"/default-domain/workspaces/many"}`)
	for _, r := range []tripRequest{
		{"a page by title of a folder with most documents, behind some that are elsewhere", "GET", "/id/" + many + "/@children?pageSize=50&sortBy=dc:title", "", 1, 1},
		{"a query among hundreds", "GET", titled, "", 1, 1},
		{"a page of hundreds with breadcrumbs, thumbnails and tags", "GET", thumbnails, "", 1, 1},
	} {
		w.bounded(r)
	}
	words()
	store.counted()
	if do("POST", "/id/"+folder, `{"entity-type":"document","type":"File","name":"taken"}`); store.unread > 0 {
		t.Errorf("the commit of a creation asks for %d rows, which could have come with the first ones", store.unread)
	}
	for _, r := range []tripRequest{
		{"a creation under a name that is taken", "POST", "/id/" + folder, `{"entity-type":"document","type":"File","name":"d7"}`, 1, 1},
		{"a chain that stores a document under a name that is taken", "POST", "/automation/Store.Text", `{"input":"` + folder + `"}`, 1, 1},
	} {
		w.bounded(r)
	}
}

// TestRoundTripsOfSignIns bounds those of a creation, whatever its caller signs in by.
func TestRoundTripsOfSignIns(t *testing.T) {
	w := newTrips(t)
	w.s.Do("POST", "/nuxeo/api/v1/automation/Document.AddPermission", `{"params":{"permission":"Everything","user":"bob"},"input":"/default-domain/workspaces"}`)
	token := w.do("POST", "/token?application=Drive&deviceId=1&permission=ReadWrite", "").Text
	in := w.s.Do("POST", "/nuxeo/login", url.Values{"user": {"bob"}, "password": {resttest.Password}}.Encode(), "as", "", "Content-Type", "application/x-www-form-urlencoded")
	cookie, session, _ := strings.Cut(strings.Split(in.Header.Get("Set-Cookie"), ";")[0], "=")
	form := func(path string, v url.Values, as string) *resttest.Answer {
		return w.s.Do("POST", path, v.Encode(), "as", as, "Content-Type", "application/x-www-form-urlencoded")
	}
	w.s.Do("POST", "/api/v1/directory/oauth2Clients", `{"properties":{"name":"App","clientId":"app","redirectURIs":"my://back"}}`)
	back, err := url.Parse(form("/nuxeo/oauth2/authorize_submit", url.Values{"client_id": {"app"}, "response_type": {"code"}, "grant_access": {"1"}}, "bob").Header.Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	access := form("/oauth2/token", url.Values{"grant_type": {"authorization_code"}, "code": {back.Query().Get("code")}, "client_id": {"app"}}, "").JSON(t)["access_token"].(string)
	ts := strconv.FormatInt(time.Now().UnixMilli(), 10)
	sum := md5.Sum([]byte(ts + ":abc:" + tripPortal + ":bob")) //nolint:gosec // given by the platform's portals
	for _, by := range []struct {
		what    string
		headers []string
		all     int
	}{
		{"password", w.headers, 1},
		{"key", []string{"Authorization", "Bearer " + w.s.Key("bob", "read_write")}, 1},
		{"token of an OAuth 2 client", []string{"Authorization", "Bearer " + access}, 2},
		{"token of a device", []string{"as", "", "X-Authentication-Token", token}, 1},
		{"cookie", []string{"as", "", "Cookie", cookie + "=" + session, "Sec-Fetch-Site", "same-origin"}, 1},
		{"portal", []string{"as", "", "NX_USER", "bob", "NX_TS", ts, "NX_RD", "abc", "NX_TOKEN", base64.StdEncoding.EncodeToString(sum[:])}, 1},
		{"page", []string{"as", "", "Cookie", cookie + "=" + session, "X-Csrf-Token", rest.CSRFOf(session)}, 1},
	} {
		w.headers = by.headers
		w.bounded(tripRequest{"a creation by " + by.what, "POST", "/path/default-domain/workspaces", `{"entity-type":"document","type":"File","name":"new%d"}`, 1, by.all})
	}
}
