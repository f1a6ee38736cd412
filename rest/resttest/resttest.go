// Package resttest runs the whole HTTP server on an in-memory store, for tests of its entry points. Requests go
// through a real listener on the loopback address, so what a test sees is what a client sees. If TEST_STORE is nodes,
// two servers on one database answer the requests in turn.
package resttest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"catena/chains"
	"catena/engine"
	"catena/engine/library"
	"catena/engine/workflow"
	"catena/ops"
	"catena/ops/service"
	"catena/rest"
	"catena/rest/server"
	"catena/storage"
	"catena/storage/cluster"
	"catena/storage/credential"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// Password is that of the user Administrator.
const Password = storagetest.Password

// Server is a running server, or several on one store.
type Server struct {
	*httptest.Server
	Repo   *storage.Repo
	Engine *engine.Engine
	nodes  inTurn
	t      testing.TB
}

// Config changes what Start makes; nil functions change nothing. Functions are called for each server, the one of Server last:
// Deployed, which makes the chains and so on that belong to the engine of one server, before Engine and Rest.
type Config struct {
	Ops    []engine.Op // besides those of every family
	Single bool        // one server in any case: the test is about what a server has for itself
	Runs   bool        // several write the runs that have ended, as servers do, so that transactions are under way that no request is of

	Storage  func(*storage.Config)
	Repo     func(*storage.Repo) // before anything runs
	Siblings []string            // names of further repositories
	Deployed func() library.Deployments
	Engine   func(*engine.Config)
	Rest     func(*rest.Config)
	Process  *service.Server // what operations tell of the process; nil: nothing
}

// Start runs a server until the test ends.
func Start(t testing.TB, c Config) *Server {
	t.Helper()
	n := storagetest.Nodes()
	if c.Single {
		n = 1
	}
	repos := storagetest.OpenNodes(t, n, func(sc *storage.Config) {
		sc.Owners = slices.Concat(sc.Owners, ops.Owners)
		if c.Storage != nil {
			c.Storage(sc)
		}
	})
	s := &Server{t: t}
	for _, s.Repo = range slices.Backward(repos) {
		s.nodes.all = append(s.nodes.all, s.node(c))
	}
	h := s.nodes.all[len(repos)-1].handler
	s.Server = httptest.NewUnstartedServer(h)
	s.Config, s.Listener = h.Server(), h.Listener(s.Listener)
	if len(repos) > 1 {
		s.Config.Handler = &s.nodes
	}
	s.Start()
	if len(repos) > 1 {
		s.share(c.Runs)
	}
	t.Cleanup(func() {
		for _, n := range s.nodes.all {
			n.handler.Close()
		}
		s.Close()
	})
	return s
}

// share has the servers be nodes of a store, show each other their running calls and answer each other, and if so said those that
// have ended, until the test ends.
func (s *Server) share(ended bool) {
	var sharing sync.WaitGroup
	ctx, stop := context.WithCancel(context.Background())
	for i, n := range s.nodes.all {
		m, err := cluster.Join(ctx, n.engine.Repo(), cluster.Node{ID: "node" + strconv.Itoa(i), Address: "127.0.0.1:" + strconv.Itoa(8080+i)})
		check(s.t, err)
		n.engine.Join(m)
		for _, work := range []func(context.Context) error{m.Run, n.engine.ShareRuns, n.engine.AnswerOthers} {
			sharing.Go(func() { check(s.t, work(ctx)) })
		}
		if ended {
			sharing.Go(func() { check(s.t, n.engine.RecordRuns(ctx, nil)) })
		}
	}
	s.t.Cleanup(func() {
		stop()
		sharing.Wait()
	})
}

// Swap changes the operations of all servers.
func (s *Server) Swap(change func(*engine.Set) (*engine.Set, error)) {
	s.t.Helper()
	for _, n := range s.nodes.all {
		check(s.t, n.engine.Swap(change))
	}
}

// Turn returns the engine of the server whose turn it is.
func (s *Server) Turn(ctx context.Context) (*engine.Engine, error) {
	n := s.nodes.turn()
	s.nodes.changes.Add(1)
	return n.engine, n.follow(ctx, &s.nodes.changes)
}

// node prepares a repository and makes what answers its requests.
func (s *Server) node(c Config) *node {
	s.t.Helper()
	workflow.Watch(s.Repo)
	if c.Repo != nil {
		c.Repo(s.Repo)
	}
	for _, name := range c.Siblings {
		storagetest.Sibling(s.t, s.Repo, name)
	}
	n := &node{}
	n.handler, n.deployed = s.handler(c)
	n.engine = s.Engine
	return n
}

// Beside starts another server on the store of this one, with an engine of its own, as a second process would have.
func (s *Server) Beside(c Config) *Server {
	s.t.Helper()
	other := &Server{t: s.t, Repo: s.Repo}
	h, _ := other.handler(c)
	other.Server = httptest.NewUnstartedServer(h)
	other.Config, other.Listener = h.Server(), h.Listener(other.Listener)
	other.Start()
	s.t.Cleanup(func() {
		h.Close()
		other.Close()
	})
	return other
}

// handler makes the engine of the repository and what answers its requests.
func (s *Server) handler(c Config) (*rest.Handler, library.Deployments) {
	s.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	var deployed library.Deployments
	if c.Deployed != nil {
		deployed = c.Deployed()
	}
	set, err := engine.NewSet(append(ops.All(ops.Config{Service: service.Config{Server: c.Process}, Texts: textsOf(deployed)}), c.Ops, deployed.Ops())...)
	check(s.t, err)
	set, err = chains.Builtin(set)
	check(s.t, err)
	ec := engine.Config{Repo: s.Repo, Set: set, Log: quiet, Uploads: ops.Uploads}
	if c.Engine != nil {
		c.Engine(&ec)
	}
	s.Engine = engine.New(ec)
	check(s.t, deployed.Load(context.Background(), s.Engine))
	rc := rest.Config{Engine: s.Engine, Log: quiet, ContextPath: "/nuxeo", Version: "2023.10"}
	if c.Rest != nil {
		c.Rest(&rc)
	}
	return server.New(rc), deployed
}

// textsOf finds the texts that operations know of among what is deployed, nil if they are not.
func textsOf(all library.Deployments) *ops.Texts {
	for _, d := range all {
		if x, ok := d.(*ops.Texts); ok {
			return x
		}
	}
	return nil
}

// node is one of the servers.
type node struct {
	handler  *rest.Handler
	engine   *engine.Engine
	deployed library.Deployments
	seen     atomic.Int64 // changes that the node has followed
}

// follow does what the program does twice a second, if there may be something that another node has deployed: a test need not
// wait for it.
func (n *node) follow(ctx context.Context, changes *atomic.Int64) error {
	if now := changes.Load(); len(n.deployed) > 0 && n.seen.Swap(now) != now {
		return n.deployed.Refresh(ctx, n.engine)
	}
	return nil
}

// inTurn gives requests to servers, one after the other.
type inTurn struct {
	all     []*node
	next    atomic.Int64
	changes atomic.Int64 // requests that may have changed something
}

func (t *inTurn) turn() *node { return t.all[t.next.Add(1)%int64(len(t.all))] }

// ServeHTTP has the next server answer.
func (t *inTurn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := t.turn()
	if err := n.follow(r.Context(), &t.changes); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		t.changes.Add(1) // a client may have the answer before the handler has returned
		defer t.changes.Add(1)
	}
	n.handler.ServeHTTP(w, r)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// User adds a user whose password is Password.
func (s *Server) User(name string, groups ...string) {
	s.t.Helper()
	check(s.t, s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: name, Groups: groups}, Password)
	}))
}

// Key makes an API key of a user.
func (s *Server) Key(user, scope string) string {
	s.t.Helper()
	var secret string
	check(s.t, s.Repo.Update(context.Background(), s.Repo.System(), func(tx *storage.Tx) (err error) {
		_, secret, err = credential.CreateKey(tx, credential.Key{User: user, Scope: scope, Name: "test"})
		return err
	}))
	return secret
}

// Answer is what a request got, its body read.
type Answer struct {
	*http.Response
	Text string
}

// Do sends a request as Administrator. Headers are pairs of name and value; one named "as"
// names another user, "" nobody.
func (s *Server) Do(method, path, body string, headers ...string) *Answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, strings.NewReader(body))
	check(s.t, err)
	if body == "" {
		req.Body, req.ContentLength = http.NoBody, 0
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.SetBasicAuth("Administrator", Password)
	for i := 0; i+1 < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "as" && value == "":
			req.Header.Del("Authorization")
		case name == "as":
			req.SetBasicAuth(value, Password)
		case name == "Host":
			req.Host = value
		default:
			req.Header.Set(name, value)
		}
	}
	return s.Send(req)
}

// Send sends a request as it is; redirects are not followed.
func (s *Server) Send(req *http.Request) *Answer {
	s.t.Helper()
	client := *s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	check(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	check(s.t, err)
	return &Answer{res, string(text)}
}

// JSON reads the body of an answer.
func (a *Answer) JSON(t testing.TB) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.NewDecoder(bytes.NewReader([]byte(a.Text))).Decode(&out); err != nil {
		t.Fatalf("%s: %v: %.200s", a.Status, err, a.Text)
	}
	return out
}
