package outside_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/chains"
	"catena/engine"
	"catena/engine/egress"
	"catena/ops"
	"catena/ops/blob"
	"catena/ops/outside"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// service is a server that tells what it was sent.
type service struct {
	*httptest.Server
	mu     sync.Mutex
	keys   []string
	echoed map[string]any // what /echo was sent last
	tokens atomic.Int32
	busy   atomic.Int32 // how many requests get status 503
}

func serve(t *testing.T) *service {
	s := &service{}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		if s.busy.Add(-1) >= 0 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		echoed := map[string]any{
			"method": r.Method, "query": r.URL.RawQuery, "body": string(body), "type": r.Header.Get("Content-Type"),
			"authorization": r.Header.Get("Authorization"), "own": r.Header.Get("X-Own"),
		}
		s.mu.Lock()
		s.keys = append(s.keys, r.Header.Get("Idempotency-Key"))
		s.echoed = echoed
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(echoed)
	})
	mux.HandleFunc("/text", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "plain") })
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="../a.pdf"`)
		_, _ = io.WriteString(w, "%PDF")
	})
	mux.HandleFunc("/missing", http.NotFound)
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		if id, secret, _ := r.BasicAuth(); id != "client" || secret != "s3cret" || r.FormValue("grant_type") != "client_credentials" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		n := s.tokens.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t" + string('0'+n), "token_type": "Bearer", "expires_in": 3600, "scope": r.FormValue("scope")})
	})
	mux.HandleFunc("/guarded", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t"+string('0'+s.tokens.Load()) || r.URL.Query().Get("again") != "" && s.tokens.Load() < 2 {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// last is what /echo was sent last, nil if nothing was.
func (s *service) last() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.echoed
}

// world is an engine that reaches the service.
type world struct {
	t      *testing.T
	repo   *storage.Repo
	engine *engine.Engine
	client *egress.Client
	at     string
}

func newWorld(t *testing.T, at string) *world {
	t.Helper()
	w := &world{t: t, repo: storagetest.Open(t, nil), at: at}
	var err error
	w.client, err = egress.New(egress.Config{Allow: []string{"127.0.0.0/8"}, Plain: true})
	w.must(err)
	set, err := engine.NewSet(append(ops.All(ops.Config{Outside: blob.Outside{Client: w.client}}), chains.New().Ops())...)
	w.must(err)
	w.engine = engine.New(engine.Config{Repo: w.repo, Set: set, Log: slog.New(slog.DiscardHandler)})
	w.must(w.repo.Update(t.Context(), w.repo.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "bob"}, "")
	}))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) call(user, op string, in any, params map[string]any) (*engine.Result, error) {
	w.t.Helper()
	as, err := w.engine.PrincipalOf(w.t.Context(), user)
	w.must(err)
	if path, ok := params["url"].(string); ok && strings.HasPrefix(path, "/") {
		params["url"] = w.at + path
	}
	return w.engine.Run(w.t.Context(), engine.Call{Op: op, Input: in, Params: params, As: as, EntryPoint: engine.REST, Trace: true})
}

func TestRequest(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	file := engine.NewBlob("a.txt", "text/csv", []byte("a,b"))
	for _, c := range []struct {
		name   string
		in     any
		params map[string]any
		want   map[string]any
	}{
		{"query", nil, map[string]any{"url": "/echo?z=1", "query": map[string]any{"a": []any{"1", "2"}, "b": "ä"}}, map[string]any{"method": "GET", "query": "z=1&a=1&a=2&b=%C3%A4"}},
		{"json", nil, map[string]any{"url": "/echo", "method": "POST", "json": map[string]any{"n": 1}}, map[string]any{"body": `{"n":1}`, "type": "application/json"}},
		{"json list", nil, map[string]any{"url": "/echo", "method": "PUT", "json": []any{"a"}}, map[string]any{"method": "PUT", "body": `["a"]`}},
		{"form", nil, map[string]any{"url": "/echo", "method": "POST", "form": map[string]any{"a": "x y"}}, map[string]any{"body": "a=x+y", "type": "application/x-www-form-urlencoded"}},
		{"text", nil, map[string]any{"url": "/echo", "method": "PATCH", "text": "hello", "headers": map[string]any{"content-type": "text/markdown", "x-own": "1"}}, map[string]any{"body": "hello", "type": "text/markdown", "own": "1"}},
		{"file", file, map[string]any{"url": "/echo", "method": "POST"}, map[string]any{"body": "a,b", "type": "text/csv"}},
		{"redirected", nil, map[string]any{"url": "/away"}, map[string]any{"method": "GET"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := w.call("Administrator", "Http.Request", c.in, c.params)
			w.must(err)
			got, _ := r.Value.(map[string]any)
			for name, want := range c.want {
				if got[name] != want {
					t.Errorf("%s is %q, want %q", name, got[name], want)
				}
			}
		})
	}
	for _, c := range []struct {
		params map[string]any
		want   any
	}{
		{map[string]any{"url": "/text"}, "plain"},
		{map[string]any{"url": "/text", "answer": "none"}, nil},
		{map[string]any{"url": "/text", "method": "HEAD"}, nil},
		{map[string]any{"url": "/missing", "anyStatus": true}, "404 page not found\n"},
	} {
		r, err := w.call("Administrator", "Http.Request", nil, c.params)
		if err != nil || !reflect.DeepEqual(r.Value, c.want) {
			t.Errorf("%v: %v, %v", c.params, r, err)
		}
	}
	r, err := w.call("Administrator", "Http.Request", nil, map[string]any{"url": "/file"})
	w.must(err)
	if b, ok := r.Value.(*storage.Blob); !ok || b.Name != "a.pdf" || b.Type != "application/pdf" || b.Size != 4 {
		t.Errorf("a file: %v", r.Value)
	}
}

func TestFailures(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	for _, c := range []struct {
		name   string
		busy   int32
		params map[string]any
		kind   fault.Kind
		want   string
	}{
		{"status", 0, map[string]any{"url": "/missing"}, fault.Invalid, "responded with status 404: 404 page not found"},
		{"no JSON", 0, map[string]any{"url": "/text", "answer": "json"}, fault.Invalid, "is not JSON"},
		{"busy", 3, map[string]any{"url": "/echo", "retries": 1}, fault.Unavailable, "status 503"},
		{"slow", 0, map[string]any{"url": "/slow", "timeout": 1}, fault.Unavailable, "deadline exceeded"},
		{"nobody", 0, map[string]any{"url": "http://127.0.0.1:1/"}, fault.Unavailable, "refused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.busy.Store(c.busy)
			_, err := w.call("Administrator", "Http.Request", nil, c.params)
			storagetest.WantKind(t, err, c.kind, c.want)
		})
	}
	s.busy.Store(2)
	if _, err := w.call("Administrator", "Http.Request", nil, map[string]any{"url": "/echo", "method": "POST", "text": "a", "retries": 2}); err != nil {
		t.Errorf("a service that was busy twice: %v", err)
	}
	if _, err := w.call("bob", "Http.Request", nil, map[string]any{"url": "/text"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a user: %v", err)
	}
}

// TestCredentials sends them by a chain that they are granted to, and looks for them in its trace.
func TestCredentials(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	save := func(params map[string]any) {
		t.Helper()
		params["chains"] = []any{"Test.Call"}
		_, err := w.call("Administrator", "Credential.Save", nil, params)
		w.must(err)
	}
	save(map[string]any{"name": "basic", "kind": "basic", "url": "/echo", "user": "u", "secret": "s3cret"})
	save(map[string]any{"name": "bearer", "kind": "bearer", "url": "/", "secret": "s3cret"})
	save(map[string]any{"name": "header", "kind": "header", "url": "/echo", "header": "X-Own", "secret": "s3cret"})
	save(map[string]any{"name": "oauth", "kind": "oauth2", "url": "/guarded", "user": "client", "secret": "s3cret", "tokenUrl": s.URL + "/token", "scopes": []any{"a", "b"}})
	_, err := w.call("Administrator", "Chain.Save", nil, map[string]any{"source": "name: Test.Call\nparams: [{name: path}, {name: with}]\nsteps:\n  - op: Http.Request\n    params: {url: \"" + s.URL + "@{path}\", credential: \"@{with}\", answer: auto}\n"})
	w.must(err)
	for _, c := range []struct{ with, path, member, want string }{
		{"basic", "/echo", "authorization", "Basic dTpzM2NyZXQ="},
		{"bearer", "/echo", "authorization", "Bearer s3cret"},
		{"header", "/echo", "own", "s3cret"},
		{"oauth", "/guarded", "", "Bearer t1"},
		{"oauth", "/guarded", "", "Bearer t1"}, // the token of before
		{"oauth", "/guarded?again=1", "", "Bearer t2"},
	} {
		r, err := w.call("bob", "Test.Call", nil, map[string]any{"path": c.path, "with": c.with})
		if err != nil {
			t.Errorf("%s: %v", c.with, err)
			continue
		}
		got := r.Value
		if m, ok := got.(map[string]any); ok {
			got = m[c.member]
		}
		if got != c.want {
			t.Errorf("%s: %v, want %s", c.with, got, c.want)
		}
		trace, err := json.Marshal(r.Trace.Steps[0].Params)
		w.must(err)
		if strings.Contains(string(trace), "s3cret") || strings.Contains(string(trace), "dTpz") {
			t.Errorf("%s: the trace shows it: %s", c.with, trace)
		}
	}
	_, err = w.call("bob", "Test.Call", nil, map[string]any{"path": "/text", "with": "basic"})
	storagetest.WantKind(t, err, fault.Denied, "is not for")
	r, err := w.call("bob", "Test.Call", nil, map[string]any{"path": "/away", "with": "bearer"})
	if err == nil && strings.Contains(string(r.Body), "s3cret") {
		t.Errorf("it was sent on: %v", r.Value)
	}
}

// TestSend: a request follows the commit, with the same key each time; one of a call that fails is never sent.
func TestSend(t *testing.T) {
	s := serve(t)
	w := newWorld(t, s.URL)
	_, err := w.call("Administrator", "Chain.Save", nil, map[string]any{"source": "name: Test.Fail\nsteps:\n  - op: Http.Send\n    params: {url: \"" + s.URL + "/echo\", text: never}\n  - op: Repository.GetDocument\n    params: {value: /missing}\n"})
	w.must(err)
	if _, err := w.call("Administrator", "Test.Fail", nil, nil); err == nil {
		t.Error("Test.Fail went well")
	}
	_, err = w.call("Administrator", "Http.Send", nil, map[string]any{"url": "/echo", "json": map[string]any{"a": 1}})
	w.must(err)
	_, err = w.call("Administrator", "Http.Send", engine.NewBlob("a.txt", "text/plain", []byte("file")), map[string]any{"url": "/echo"})
	w.must(err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done := make(chan error, 1)
	load := func(b storage.Blob) *storage.Blob { return w.repo.Blobs().Load(b) }
	go func() {
		done <- outbox.Run(ctx, w.repo, outside.Jobs(w.repo, outside.Config{Client: w.client, Blobs: load}))
	}()
	for ctx.Err() == nil {
		s.mu.Lock()
		n := len(s.keys)
		s.mu.Unlock()
		if n == 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	w.must(<-done)
	if len(s.keys) != 2 || s.keys[0] == "" || s.keys[0] == s.keys[1] {
		t.Errorf("keys %v", s.keys)
	}
}
