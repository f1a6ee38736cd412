package run_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/cluster"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/run"
	"catena/storage/storagetest"
)

// world is a store whose clock the test moves, with the lease of a server.
type world struct {
	*storage.Repo
	Now    time.Time
	t      *testing.T
	lease  *cluster.Lease
	limits run.Limits
	users  map[string]*storage.Principal
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{
		Now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), t: t, users: map[string]*storage.Principal{},
		limits: run.Limits{All: 6, User: 3, Results: 900, Keep: time.Hour},
	}
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock, c.BlobGrace = func() time.Time { return w.Now }, time.Nanosecond
	})
	w.lease = cluster.NewLease(w.Repo)
	for _, name := range []string{"alice", "bob"} {
		w.user(name)
	}
	w.users["Administrator"] = w.principal("Administrator")
	return w
}

// Write carries out fn, which succeeds.
func (w *world) Write(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	w.must(w.Update(w.t.Context(), as, fn))
}

// Read carries out fn, which only reads and succeeds.
func (w *world) Read(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	w.must(w.View(w.t.Context(), as, fn))
}

func (w *world) user(name string) {
	w.t.Helper()
	w.Write(w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: name}, "a long password")
	})
	w.users[name] = w.principal(name)
}

func (w *world) principal(name string) *storage.Principal {
	w.t.Helper()
	p, err := w.Principal(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) update(fn func(tx *storage.Tx) error) error {
	return w.Update(w.t.Context(), w.System(), fn)
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) begin(user, id string) error {
	return w.update(func(tx *storage.Tx) error {
		return run.Begin(tx, &run.Run{ID: id, Owned: storage.OwnedBy(w.users[user]), Op: "Test.Op"}, w.lease, w.limits)
	})
}

func (w *world) end(id string, res *run.Result) error {
	return w.update(func(tx *storage.Tx) error { return run.End(tx, id, res, nil, w.limits) })
}

func (w *world) find(user, id string) (r *run.Run, err error) {
	err = w.View(w.t.Context(), w.users[user], func(tx *storage.Tx) error {
		r, err = run.Find(tx, id)
		return err
	})
	return r, err
}

func (w *world) load(user, id string) (res *run.Result, err error) {
	err = w.View(w.t.Context(), w.users[user], func(tx *storage.Tx) error {
		r, err := run.Find(tx, id)
		if err == nil {
			res, err = r.Load(tx)
		}
		return err
	})
	return res, err
}

func (w *world) fetch(user, id string) {
	w.t.Helper()
	r, err := w.find(user, id)
	w.must(err)
	w.must(w.update(r.Fetched))
}

func shown(err error) *run.Failure { return &run.Failure{Word: fault.Word(err), Problem: []byte(`{}`)} }

func (w *world) lose(id string) (r *run.Run, err error) {
	err = w.update(func(tx *storage.Tx) error {
		r, err = run.Lose(tx, id, w.limits, shown)
		return err
	})
	return r, err
}

func code(t *testing.T, what string, err error, want fault.Code) {
	t.Helper()
	if fault.CodeOf(err) != want || err == nil {
		t.Errorf("%s: %v, want the code %v", what, err, want)
	}
}

// TestLife has a run begin, end, be read again and again, and expire.
func TestLife(t *testing.T) {
	w := open(t)
	w.must(w.begin("alice", "r1"))
	if err := w.begin("alice", "r1"); !fault.Is(err, fault.Exists) {
		t.Errorf("the id once more: %v", err)
	}
	r, err := w.find("alice", "r1")
	w.must(err)
	if r.Over() || r.Op != "Test.Op" || r.Lease != w.lease.ID() {
		t.Errorf("begun: %+v", r)
	}
	for user, seen := range map[string]bool{"alice": true, "bob": false, "Administrator": true} {
		if _, err := w.find(user, "r1"); (err == nil) != seen || err != nil && !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", user, err)
		}
	}
	large := strings.Repeat("x", 100<<10)
	w.limits.Results = 1 << 20
	file := blob.FromBytes("f.txt", "text/plain", []byte("text of a file"))
	w.must(w.end("r1", &run.Result{Body: []byte(large), On: []byte(`{"$doc":"1"}`), Docs: []string{"1"}, Files: []*storage.Blob{file}, List: true, Command: "c"}))
	if err := w.end("r1", &run.Result{}); err == nil {
		t.Error("it has ended twice")
	}
	var last *storage.Blob
	for range 3 {
		res, err := w.load("alice", "r1")
		w.must(err)
		if string(res.Body) != large || string(res.On) != `{"$doc":"1"}` || fmt.Sprintf("%v %t %s", res.Docs, res.List, res.Command) != "[1] true c" {
			t.Errorf("result: %d bytes, %s %v %v %s", len(res.Body), res.On, res.Docs, res.List, res.Command)
		}
		last = res.Files[0]
		text, err := last.Bytes(0)
		if string(text) != "text of a file" || err != nil || last.Name != "f.txt" || last.Type != "text/plain" {
			t.Errorf("file: %q %v %v", text, last, err)
		}
		w.Now = w.Now.Add(w.limits.Keep / 4)
		w.must(w.Sweep(t.Context()))
	}
	r, err = w.find("alice", "r1")
	w.must(err)
	if _, err := r.Load(w.as(t, "bob")); !fault.Is(err, fault.NotFound) {
		t.Errorf("the result for somebody else: %v", err)
	}
	w.Now = w.Now.Add(w.limits.Keep)
	if _, err := w.find("alice", "r1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("expired, before it is swept: %v", err)
	}
	w.must(w.Sweep(t.Context())) // of the row, and of what it held
	w.must(w.Sweep(t.Context()))
	w.Read(w.System(), func(tx *storage.Tx) error {
		if n, err := run.Count(tx); n != 0 || err != nil {
			t.Errorf("%d runs are counted, %v", n, err)
		}
		return nil
	})
	if _, err := last.Bytes(0); err == nil {
		t.Error("the file of an expired run is still there")
	}
}

// as opens a transaction for a user that ends at once: what it is given to is refused before it reads.
func (w *world) as(t *testing.T, user string) (tx *storage.Tx) {
	t.Helper()
	w.Read(w.users[user], func(x *storage.Tx) error { tx = x; return nil })
	return tx
}

// TestLost has servers live and die: a run is lost once the lease of its server has ended, and cannot end well afterwards.
func TestLost(t *testing.T) {
	w := open(t)
	w.must(w.begin("alice", "r1"))
	for range 5 { // as long as the lease is renewed, whatever time it takes
		w.Now = w.Now.Add(cluster.Lost - time.Second)
		if r, err := w.lose("r1"); err != nil || r.Over() {
			t.Fatalf("its server lives: %+v %v", r, err)
		}
		w.must(w.lease.Renew(t.Context()))
	}
	w.Now = w.Now.Add(cluster.Lost)
	r, err := w.lose("r1")
	w.must(err)
	if !r.Over() || r.Failure == nil || r.Failure.Word != "run_lost" {
		t.Errorf("lost: %+v", r)
	}
	code(t, "an end afterwards", w.end("r1", &run.Result{}), fault.CodeRunLost)
	w.must(w.lease.Renew(t.Context()))
	if r, err := w.find("alice", "r1"); err != nil || r.Failure == nil {
		t.Errorf("after its server has come back: %+v %v", r, err)
	}
	if r, err := w.lose("nope"); r != nil || err != nil {
		t.Errorf("no run: %+v %v", r, err)
	}

	// One that is about to end when it is declared lost: one of both transactions fails.
	w.must(w.begin("alice", "r2"))
	w.Now = w.Now.Add(cluster.Lost)
	tries := 0
	err = w.Update(t.Context(), w.users["alice"], func(tx *storage.Tx) error {
		if tries++; tries == 1 {
			defer func() { _, err := w.lose("r2"); w.must(err) }()
		}
		return run.End(tx, "r2", &run.Result{}, nil, w.limits)
	})
	code(t, "an end that was declared lost before its commit", err, fault.CodeRunLost)
	if tries != 2 {
		t.Errorf("%d tries", tries)
	}

	// Nobody has asked for a run that was lost.
	w.must(w.begin("bob", "r3"))
	w.Now = w.Now.Add(23 * time.Hour)
	w.must(w.Sweep(t.Context()))
	if _, err := w.find("bob", "r3"); err != nil {
		t.Errorf("after 23 hours: %v", err)
	}
	w.Now = w.Now.Add(time.Hour)
	w.must(w.Sweep(t.Context()))
	if _, err := w.find("bob", "r3"); !fault.Is(err, fault.NotFound) {
		t.Errorf("after a day: %v", err)
	}
}

// TestBounds begins as many runs as are permitted, and one more.
func TestBounds(t *testing.T) {
	w := open(t)
	for i := range w.limits.User {
		w.must(w.begin("alice", fmt.Sprint("a", i)))
	}
	code(t, "one more of a user", w.begin("alice", "a3"), fault.CodeRunsFull)
	w.must(w.end("a1", &run.Result{}))
	code(t, "none was read", w.begin("alice", "a3"), fault.CodeRunsFull)
	w.fetch("alice", "a1")
	w.must(w.begin("alice", "a3"))
	if _, err := w.find("alice", "a1"); !fault.Is(err, fault.NotFound) {
		t.Errorf("what was read does not give way: %v", err)
	}
	for i := range w.limits.User {
		w.must(w.begin("bob", fmt.Sprint("b", i)))
	}
	w.user("carol")
	code(t, "one more of all", w.begin("carol", "c0"), fault.CodeRunsFull)
	w.must(w.end("a0", &run.Result{}))
	w.Now = w.Now.Add(w.limits.Keep + time.Second) // expired runs do not count, even if they are not swept yet
	w.must(w.begin("alice", "a4"))
	code(t, "running ones do not expire", w.begin("bob", "b3"), fault.CodeRunsFull)
}

// TestResults has results wait that take as many bytes as are permitted, and one more.
func TestResults(t *testing.T) {
	w := open(t)
	body := func(n int) *run.Result { return &run.Result{Body: []byte(strings.Repeat("x", n))} }
	for _, id := range []string{"r0", "r1", "r2"} {
		w.must(w.begin("alice", id))
	}
	w.must(w.end("r0", body(400)))
	w.must(w.end("r1", body(300))) // a share is kept in any case
	var full *run.ErrFull
	if err := w.end("r2", body(501)); !errors.As(err, &full) || full.Waiting != 700 || full.Limit != 900 || fault.CodeOf(err) != fault.CodeResultsFull || !fault.Is(err, fault.Limit) {
		t.Errorf("too many bytes: %v", err)
	}
	if r, err := w.find("alice", "r2"); err != nil || r.Over() {
		t.Errorf("what was refused was stored: %+v %v", r, err)
	}
	w.fetch("alice", "r0")
	w.fetch("alice", "r0")
	w.must(w.end("r2", body(501)))
	if _, err := w.find("alice", "r0"); !fault.Is(err, fault.NotFound) {
		t.Errorf("what was read does not give way: %v", err)
	}
	w.must(w.begin("bob", "b0")) // others have room of their own
	w.must(w.end("b0", body(900)))
	w.must(w.begin("bob", "b1"))
	if err := w.end("b1", body(901)); !errors.As(err, &full) {
		t.Errorf("larger than all: %v", err)
	}
}

// TestCancel cancels runs, which their server finds, and removes some.
func TestCancel(t *testing.T) {
	w := open(t)
	for _, id := range []string{"r0", "r1", "r2"} {
		w.must(w.begin("alice", id))
	}
	woken, stop := run.Watch(w.Repo)
	defer stop()
	cancel := func(user, id string) error {
		return w.update(func(tx *storage.Tx) error { return run.Cancel(tx.As(w.users[user]), id) })
	}
	if err := cancel("bob", "r0"); !fault.Is(err, fault.NotFound) {
		t.Errorf("by somebody else: %v", err)
	}
	reader := *w.users["alice"]
	reader.ReadOnly = true
	w.users["reader"] = &reader
	code(t, "with a key that only reads", cancel("reader", "r0"), fault.CodeInsufficientScope)
	w.must(cancel("Administrator", "r0"))
	select {
	case <-woken:
	case <-time.After(time.Minute):
		t.Error("nobody is woken")
	}
	w.must(w.update(func(tx *storage.Tx) error {
		r, err := run.Find(tx.As(w.users["alice"]), "r1")
		if err == nil {
			err = r.Remove(tx.As(w.users["alice"]))
		}
		return err
	}))
	w.Read(w.System(), func(tx *storage.Tx) error {
		got, err := run.Canceled(tx, []string{"r0", "r1", "r2"})
		if fmt.Sprint(got) != "map[r0:Administrator r1:]" {
			t.Errorf("canceled: %v", got)
		}
		return err
	})
	for id, part := range map[string]string{"r0": "was canceled by Administrator", "r1": "was canceled"} {
		err := w.end(id, &run.Result{})
		code(t, id, err, fault.CodeRunEnded)
		if !strings.Contains(err.Error(), part) {
			t.Error(err)
		}
	}
	w.must(w.update(func(tx *storage.Tx) error {
		return run.End(tx, "r0", nil, shown(fault.Conflict.Errorf("canceled").WithCode(fault.CodeRunEnded)), w.limits)
	}))
	if r, err := w.find("alice", "r0"); err != nil || r.Failure.Word != "run_ended" {
		t.Errorf("%+v %v", r, err)
	}
	if err := cancel("alice", "r0"); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that has ended: %v", err)
	}
}

// TestLeave removes a user whose runs go too, and those of another one of the name do not come back.
func TestLeave(t *testing.T) {
	w := open(t)
	w.must(w.begin("alice", "r0"))
	w.must(w.begin("bob", "r1"))
	w.must(w.end("r0", &run.Result{Body: []byte("x")}))
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "alice") })
	w.user("alice")
	for _, user := range []string{"alice", "Administrator"} {
		if _, err := w.find(user, "r0"); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", user, err)
		}
	}
	if _, err := w.find("bob", "r1"); err != nil {
		t.Error(err)
	}
}

// TestOnlyServer tries to write runs as a user.
func TestOnlyServer(t *testing.T) {
	w := open(t)
	w.must(w.begin("alice", "r0"))
	for what, fn := range map[string]func(tx *storage.Tx) error{
		"begin": func(tx *storage.Tx) error {
			return run.Begin(tx, &run.Run{ID: "x", Owned: storage.OwnedBy(w.users["alice"])}, w.lease, w.limits)
		},
		"lose":     func(tx *storage.Tx) error { _, err := run.Lose(tx, "r0", w.limits, shown); return err },
		"canceled": func(tx *storage.Tx) error { _, err := run.Canceled(tx, nil); return err },
		"count":    func(tx *storage.Tx) error { _, err := run.Count(tx); return err },
		"fetched":  func(tx *storage.Tx) error { return (&run.Run{ID: "r0"}).Fetched(tx) },
	} {
		if err := w.Update(t.Context(), w.users["alice"], fn); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
