package uisession_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/people"
	"catena/storage/storagetest"
	"catena/storage/uisession"
)

// world is a repository whose clock the test moves.
type world struct {
	*storage.Repo
	t   *testing.T
	now time.Time
}

func open(t *testing.T, l uisession.Limits) *world {
	w := &world{t: t, now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Bounds, c.Clock, c.BlobGrace = c.Bounds.With(l), func() time.Time { return w.now }, time.Nanosecond
	})
	w.user("alice")
	return w
}

func (w *world) user(name string) {
	w.t.Helper()
	w.must(w.Update(context.Background(), w.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: name}, "secret")
	}))
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// try runs fn as a user and returns how it ended.
func (w *world) try(user string, fn func(tx *storage.Tx) error) error {
	w.t.Helper()
	as, err := w.Principal(context.Background(), user)
	w.must(err)
	return w.Update(context.Background(), as, fn)
}

func opened(id string) func(tx *storage.Tx) error {
	return func(tx *storage.Tx) error { _, err := uisession.Open(tx, id); return err }
}

// TestLimits takes as many sessions, documents and bytes as may be, and refuses one more.
func TestLimits(t *testing.T) {
	w := open(t, uisession.Limits{Sessions: 3, List: 4, Size: 1000, Time: time.Hour})
	for i := range 3 {
		w.must(w.try("alice", opened(strconv.Itoa(i))))
	}
	if err := w.try("alice", opened("3")); !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "at most 3") {
		t.Errorf("one session more: %v", err)
	}
	w.user("bob")
	w.must(w.try("bob", opened("3")))
	w.must(w.try("alice", func(tx *storage.Tx) error { return uisession.Drop(tx, "1") }))
	w.must(w.try("alice", opened("3")))

	var docs []*storage.Doc
	w.must(w.try("Administrator", func(tx *storage.Tx) error {
		root, err := tx.Root()
		for i := 0; i < 5 && err == nil; i++ {
			var d *storage.Doc
			d, err = tx.Create(root, "File", strconv.Itoa(i), nil)
			docs = append(docs, d)
		}
		return err
	}))
	add := func(list string, n int) error {
		return w.try("alice", func(tx *storage.Tx) error { return uisession.Add(tx, list, docs[:n]...) })
	}
	w.must(add("A", 4))
	if err := add("A", 5); !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "at most 4") {
		t.Errorf("one document more: %v", err)
	}
	w.must(w.try("Administrator", func(tx *storage.Tx) error { return tx.Delete(docs[0]) }))
	w.must(w.try("alice", func(tx *storage.Tx) error { return uisession.Add(tx, "A", docs[4]) })) // what is gone has left room
	w.must(w.try("alice", func(tx *storage.Tx) error { return uisession.Set(tx, "A", docs[1:]...) }))
	for _, list := range []string{"B", "C", "D"} {
		w.must(w.try("alice", func(tx *storage.Tx) error { return uisession.Set(tx, list, docs[1:]...) }))
	}
	if err := w.try("alice", func(tx *storage.Tx) error { return uisession.Set(tx, strings.Repeat("x", 400), docs[1:]...) }); !fault.Is(err, fault.Limit) {
		t.Errorf("lists that are too large: %v", err)
	}
	tab := func(n int) error {
		return w.try("alice", func(tx *storage.Tx) error {
			s, err := uisession.Of(tx, "3")
			if err != nil {
				return err
			}
			s.Tab = strings.Repeat("x", n)
			return s.Keep(tx)
		})
	}
	n := 1000
	for ; n > 0 && tab(n) != nil; n-- {
	}
	if err := tab(n + 1); n < 700 || !fault.Is(err, fault.Limit) || !strings.Contains(err.Error(), "1001 bytes, at most 1000") {
		t.Errorf("one byte more than %d: %v", n, err)
	}
}

// TestLife lets sessions expire, and users go.
func TestLife(t *testing.T) {
	w := open(t, uisession.Limits{Sessions: 1, Time: time.Hour})
	file := storage.Blob{}
	w.must(w.try("alice", opened("a")))
	w.must(w.try("alice", func(tx *storage.Tx) error {
		s, err := uisession.Of(tx, "a")
		if err != nil {
			return err
		}
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(strings.Repeat("x", 100_000)))
		if err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if err := s.Hold(tx, b); err != nil {
			return err
		}
		file = *b
		if err := uisession.Add(tx, uisession.Worklist, root); err != nil {
			return err
		}
		return s.Push(tx, uisession.User, "x", root)
	}))
	there := func(user string) (sessions, worklist, pushed int) {
		w.must(w.try(user, func(tx *storage.Tx) error {
			all, err := uisession.All(tx)
			if err != nil {
				return err
			}
			docs, err := uisession.Listed(tx, uisession.Worklist)
			if err != nil {
				return err
			}
			names, err := (&uisession.Session{}).Pushed(tx)
			sessions, worklist, pushed = len(all), len(docs), len(names[uisession.User])
			return err
		}))
		return sessions, worklist, pushed
	}
	w.now = w.now.Add(time.Hour - time.Millisecond)
	if s, l, p := there("alice"); s != 1 || l != 1 || p != 1 {
		t.Errorf("before its end: %d sessions, %d documents, %d names", s, l, p)
	}
	w.now = w.now.Add(time.Millisecond)
	if s, l, p := there("alice"); s != 0 || l != 1 || p != 1 {
		t.Errorf("after its end: %d sessions, %d documents, %d names", s, l, p)
	}
	w.must(w.try("alice", opened("b"))) // one that has expired does not count
	held := func() bool {
		w.must(w.Sweep(context.Background()))
		var err error
		w.must(w.View(context.Background(), w.System(), func(tx *storage.Tx) error {
			_, err = hold.Load(tx, storage.Blob{Name: file.Name, Type: file.Type, Digest: file.Digest, Size: file.Size}).Bytes(0)
			return nil
		}))
		return err == nil
	}
	if !held() {
		t.Error("the file of a session that is there is gone")
	}
	w.must(uisession.Sweep(context.Background(), w.Repo))
	if held() {
		t.Error("the file of a session that is gone is there")
	}
	if s, l, p := there("alice"); s != 1 || l != 1 || p != 1 {
		t.Errorf("after the sweep: %d sessions, %d documents, %d names", s, l, p)
	}

	// Another user whose name only begins so keeps everything; one made again begins with nothing.
	w.user("alice#1")
	w.must(w.try("alice#1", opened("c")))
	w.must(w.try("alice#1", func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		return uisession.Add(tx, uisession.Worklist, root)
	}))
	w.must(w.try("Administrator", func(tx *storage.Tx) error { return people.DeleteUser(tx, "alice") }))
	w.user("alice")
	if s, l, p := there("alice"); s != 0 || l != 0 || p != 0 {
		t.Errorf("a user made anew: %d sessions, %d documents, %d names", s, l, p)
	}
	if s, l, _ := there("alice#1"); s != 1 || l != 1 {
		t.Errorf("another user: %d sessions, %d documents", s, l)
	}
}

// TestNobody gives no session to the server itself and to guests.
func TestNobody(t *testing.T) {
	w := open(t, uisession.Limits{})
	for _, as := range []*storage.Principal{w.System(), storage.Guest()} {
		if err := w.Update(context.Background(), as, opened("a")); err == nil {
			t.Errorf("%s has a session", as.Name)
		}
	}
}
