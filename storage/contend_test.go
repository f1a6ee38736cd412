package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"catena/storage"
	"catena/storage/kv"
	"catena/storage/memory"
)

// contended is a store whose commits of terms a test counts and delays.
type contended struct {
	kv.Store

	mu      sync.Mutex
	lose    int    // so many commits of terms lose their race
	before  func() // is called before each commit of terms
	commits int    // of terms, whether or not they won
	terms   int    // documents whose terms were committed
	reads   []string
}

func (s *contended) Begin(ctx context.Context, write bool) (kv.Snapshot, error) {
	snap, err := s.Store.Begin(ctx, write)
	return &contendedSnapshot{snap, s}, err
}

type contendedSnapshot struct {
	kv.Snapshot
	of *contended
}

func (s *contendedSnapshot) Commit(ctx context.Context, b *kv.Batch) error {
	terms := 0
	for _, w := range b.Writes {
		if bytes.HasPrefix(w.Key, []byte("w\x02")) {
			terms++
		}
	}
	if terms == 0 {
		return s.Snapshot.Commit(ctx, b)
	}
	before, lose := s.of.begin(b)
	if before != nil {
		before()
	}
	if lose {
		return kv.ErrConflict
	}
	err := s.Snapshot.Commit(ctx, b)
	if err == nil {
		s.of.mu.Lock()
		defer s.of.mu.Unlock()
		s.of.terms += terms
	}
	return err
}

func (s *contended) begin(b *kv.Batch) (before func(), lose bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.commits++
	for _, key := range b.Reads.Keys {
		s.reads = append(s.reads, string(key))
	}
	for _, span := range b.Reads.Spans {
		s.reads = append(s.reads, string(span.Start))
	}
	if s.lose > 0 {
		s.lose--
		return s.before, true
	}
	return s.before, false
}

// newContended returns a world on such a store, with documents /d0, /d1 and so on whose terms are written.
func newContended(t *testing.T, docs int, change ...func(*storage.Config)) (*world, *contended) {
	t.Helper()
	s := &contended{Store: memory.New()}
	db := kv.New(s, kv.Options{
		Log:   slog.New(slog.DiscardHandler),
		Sleep: func(context.Context, time.Duration) error { return nil },
	})
	w := newWorld(t, append(change, func(c *storage.Config) { c.DB, c.NewID = db, nil })...)
	w.db = db
	for i := range docs {
		w.make(fmt.Sprint("/d", i), "File", storage.Props{"dc:title": "first"})
	}
	indexText(t, w.Repo)
	s.commits, s.terms, s.reads = 0, 0, nil
	return w, s
}

// title saves a document with another title.
func (w *world) title(i int, title string) {
	w.t.Helper()
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(fmt.Sprint("/d", i)))
		if err == nil {
			err = d.Set("dc:title", title)
		}
		if err == nil {
			_, err = tx.Save(d, storage.SaveOptions{})
		}
		return err
	})
}

// TestTextLosesRaces: if bringing full text up to date loses more races than a transaction attempts, that is no error of
// the server: nothing is logged, and it is done at the next opportunity.
func TestTextLosesRaces(t *testing.T) {
	var log lines
	w, s := newContended(t, 1, func(c *storage.Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	})
	s.lose = 16
	w.title(0, "second")
	ctx, cancel := context.WithCancel(t.Context())
	running := make(chan error, 1)
	go func() { running <- w.RunText(ctx) }()
	for end := time.Now().Add(10 * time.Second); w.rows("w\x03") > 0 && log.String() == ""; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error("the terms are not brought up to date")
			break
		}
	}
	cancel()
	if err := <-running; err != nil {
		t.Error(err)
	}
	if s.commits != 17 {
		t.Errorf("%d attempts, want 16 that lose and one that wins", s.commits)
	}
	if said := log.String(); said != "" {
		t.Errorf("logged: %s", said)
	}
}

// TestTextKeepsUp: while documents are saved all the time, at a tenth of the rate at which they can be indexed, those
// that wait for it do not become more and more.
func TestTextKeepsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s := newContended(t, 1)
		s.before = func() { time.Sleep(20 * time.Millisecond) } // of about 32 documents: 1,600 a second
		ctx, cancel := context.WithCancel(t.Context())
		running := make(chan error, 1)
		go func() { running <- w.RunText(ctx) }()
		waiting := 0
		for second := range 30 {
			for i := range 20 {
				for n := range 8 {
					w.make(fmt.Sprintf("/s%d-%d-%d", second, i, n), "File", nil)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if second >= 10 {
				waiting = max(waiting, w.rows("w\x03"))
			}
		}
		cancel()
		if err := <-running; err != nil {
			t.Error(err)
		}
		if waiting > 5*160 {
			t.Errorf("%d documents wait to be indexed, more than are saved in 5 seconds", waiting)
		}
	})
}

// TestTextIndexedOnce: a document that was saved many times is indexed once.
func TestTextIndexedOnce(t *testing.T) {
	const docs, saves = 50, 3000
	w, s := newContended(t, docs)
	for n := range saves {
		w.title(n%docs, fmt.Sprint("word", n))
	}
	indexText(t, w.Repo)
	if s.terms != docs {
		t.Errorf("terms of %d documents were written, want %d", s.terms, docs)
	}
	if n := w.rows("w\x03"); n > 0 {
		t.Errorf("%d rows are left", n)
	}
	if got := found(t, w.Repo, fmt.Sprint("word", saves-1)); got != fmt.Sprint("d", (saves-1)%docs) {
		t.Errorf("the last word finds %q", got)
	}
	if got := found(t, w.Repo, fmt.Sprint("word", saves-1-docs)); got != "" {
		t.Errorf("the word before it finds %q", got)
	}
}

// TestTextDoesNotRaceSaves: documents that are saved just before their terms are committed do not make that commit lose
// its race. Their new words are found at once, and are indexed next.
func TestTextDoesNotRaceSaves(t *testing.T) {
	const docs = 10
	w, s := newContended(t, docs)
	for i := range docs {
		w.title(i, "second")
	}
	n := 0
	s.before = func() {
		n++
		for i := range docs {
			w.title(i, fmt.Sprint("later", n))
		}
	}
	for range 3 {
		if more, err := w.IndexText(t.Context()); err != nil || !more {
			t.Fatalf("%v, %v", more, err)
		}
		for word, want := range map[string]int{"second": 0, fmt.Sprint("later", n): docs, fmt.Sprint("later", n-1): 0} {
			if got := len(strings.Fields(found(t, w.Repo, word))); got != want {
				t.Errorf("%s: %d documents found, want %d", word, got, want)
			}
		}
	}
	if s.commits != 3 || s.terms != 3*docs {
		t.Errorf("%d commits of the terms of %d documents, want 3 of %d", s.commits, s.terms, 3*docs)
	}
	s.before = nil
	indexText(t, w.Repo)
	if got := len(strings.Fields(found(t, w.Repo, fmt.Sprint("later", n)))); got != docs || w.rows("w\x03") > 0 {
		t.Errorf("%d documents found, %d rows are left", got, w.rows("w\x03"))
	}
	for _, key := range s.reads {
		if !strings.HasPrefix(key, "w\x02") {
			t.Errorf("the commit of terms rests on key %q", key)
		}
	}
}

// TestTwoIndexers: of two that bring the same documents up to date, the one that read older words does not win.
func TestTwoIndexers(t *testing.T) {
	w, s := newContended(t, 1)
	for _, words := range [][2]string{{"second", "third"}, {"", "fourth"}, {"fifth", ""}} {
		w.title(0, words[0])
		s.before = func() {
			s.before = nil
			w.title(0, words[1])
			indexText(t, w.Repo)
		}
		indexText(t, w.Repo)
		if words[0] != "" && found(t, w.Repo, words[0]) != "" || words[1] != "" && found(t, w.Repo, words[1]) != "d0" || w.rows("w\x03") > 0 {
			t.Errorf("%q: the older words are found, or %d rows are left", words, w.rows("w\x03"))
		}
	}
}

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
