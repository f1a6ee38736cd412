package library

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
	"catena/storage/fault"
	"catena/storage/schema"
	"catena/storage/storagetest"
	"catena/storage/trace"
)

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// others are the servers that a follower compares itself with: what they have is not on the list of what they lack.
type others struct {
	mu   sync.Mutex
	lack []string
	err  error
	told []string
}

func (o *others) compare(_ context.Context, lacks []string) (behind []string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.told = lacks
	for _, text := range lacks {
		if !slices.Contains(o.lack, text) {
			behind = append(behind, text)
		}
	}
	return behind, o.err
}

func (o *others) set(err error, lack ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lack, o.err = lack, err
}

// TestFollow has a server follow another one without being told, log what it cannot deploy, and be ready as long as nothing works on
// the other one only.
func TestFollow(t *testing.T) {
	s := newShelf(t)
	other, all := s.beside()
	var log text
	var first others
	f := NewFollower(all, other.Engine, slog.New(slog.NewTextHandler(&log, nil)), first.compare)
	storagetest.WantKind(t, f.Status(t.Context()), fault.Unavailable, "has not been read")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	has := func(name string) func() bool {
		return func() bool { _, ok := other.Set().Op(name); return ok }
	}
	says := func(want string) func() bool {
		return func() bool {
			err := f.Status(t.Context())
			return want == "" && err == nil || want != "" && err != nil && strings.HasSuffix(err.Error(), want)
		}
	}
	await(t, "not ready", says(""))
	s.must("Note.Save", "source", "A.A\na")
	await(t, "A.A is not deployed", has("A.A"))
	s.must("Label.Save", "source", "M.M needs B.B\nm")
	await(t, "nothing is logged", func() bool { return strings.Contains(log.String(), "label M.M: operation B.B") })
	await(t, "is ready without what works elsewhere", says("works on another server and not on this one: label M.M version 1"))
	first.set(nil, "label M.M version 1")
	await(t, "is not ready because of what works nowhere", says(""))
	if err := all.Status(other.Engine); err == nil || err.Error() != "label M.M version 1" {
		t.Errorf("got %v", err)
	}
	first.set(nil)
	await(t, "is ready without what works elsewhere again", says("label M.M version 1"))
	s.must("Note.Save", "source", "B.B\nb")
	await(t, "M.M is not deployed", has("M.M"))
	await(t, "is not ready again", says(""))
	if err := all.Status(other.Engine); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestFollowStart: what does not work at the start counts at once, what a look finds later after a while, and a server that cannot
// look for long is not ready.
func TestFollowStart(t *testing.T) {
	s := newShelf(t)
	s.must("Note.Save", "source", "A.A needs X.X\na")
	other, all := s.beside()
	var first others
	f := NewFollower(all, other.Engine, slog.New(slog.DiscardHandler), first.compare)
	lacks, err := f.look(t.Context())
	if len(lacks) != 1 || err == nil {
		t.Errorf("%v, %v", lacks, err)
	}
	storagetest.WantKind(t, f.Status(t.Context()), fault.Unavailable, "note A.A version 1")
	s.must("Label.Save", "source", "M.M needs Y.Y\nm")
	if _, err := f.look(t.Context()); err == nil {
		t.Error("the label is deployed")
	}
	if err := f.Status(t.Context()); strings.Contains(err.Error(), "M.M") {
		t.Errorf("is late at once: %v", err)
	}
	f.behind["label M.M version 1"] = time.Now().Add(-late)
	storagetest.WantKind(t, f.Status(t.Context()), fault.Unavailable, "label M.M version 1, note A.A version 1")
	if want := []string{"label M.M version 1", "note A.A version 1"}; !slices.Equal(first.told, want) {
		t.Errorf("tells %q", first.told)
	}

	s.must("Note.Delete", "name", "A.A")
	s.must("Label.Delete", "name", "M.M")
	if lacks, err := f.look(t.Context()); len(lacks) > 0 || err != nil || f.Status(t.Context()) != nil {
		t.Errorf("%v, %v, %v", lacks, err, f.Status(t.Context()))
	}
	first.set(errors.New("no answer"))
	f.looked = time.Now().Add(-cutOff - time.Second)
	if _, err := f.look(t.Context()); err == nil {
		t.Error("no error")
	}
	storagetest.WantKind(t, f.Status(t.Context()), fault.Unavailable, "not been read for 16s")
}

// TestLacks: what does not work is found when operations come and go, for kinds with and without operations of their own.
func TestLacks(t *testing.T) {
	s := newShelf(t)
	plain := &Kind{Family: "Rule", Noun: "rule", Check: s.note.Check, Put: func([]Version) error { return nil }}
	looks := 0
	plain.Works = func(set *engine.Set, _ *schema.Registry, file, source string) []Problem {
		looks++
		_, name, _ := strings.Cut(source, " ")
		if _, ok := set.Op(name); ok {
			return nil
		}
		return []Problem{{File: file, Line: 1, Column: 1, Message: "operation " + name}}
	}
	lacks := func(k *Kind, want string) {
		t.Helper()
		if got := fmt.Sprint(k.Lacks(s.Engine)); got != want {
			t.Errorf("lacks %s, want %s", got, want)
		}
	}
	lacks(plain, "[]")
	for _, v := range []Version{{Name: "b", Version: 3, File: "b.txt", Source: "b B.B"}, {Name: "a", Version: 1, File: "a.txt", Source: "a A.A"}} {
		if err := plain.deploy(s.Engine, v); err != nil {
			t.Fatal(err)
		}
	}
	lacks(plain, "[rule a version 1: a.txt:1:1: operation A.A rule b version 3: b.txt:1:1: operation B.B]")
	lacks(plain, "[rule a version 1: a.txt:1:1: operation A.A rule b version 3: b.txt:1:1: operation B.B]")
	if looks != 2 {
		t.Errorf("looked %d times at 2 texts", looks)
	}
	s.must("Note.Save", "source", "A.A\na")
	lacks(plain, "[rule b version 3: b.txt:1:1: operation B.B]")
	if err := plain.withdraw(s.Engine, "b", 3); err != nil {
		t.Fatal(err)
	}
	lacks(plain, "[]")

	lacks(s.note, "[]")
	for _, v := range []Version{{Name: "C.C", Version: 1, Source: "C.C needs X.X\nc"}, {Name: "", Version: 1, Source: "\nnothing"}} {
		if err := s.note.deploy(s.Engine, v); err == nil {
			t.Errorf("%q is deployed", v.Name)
		}
	}
	lacks(s.note, `[note  version 1: operation "": no name note C.C version 1: operation X.X]`)
}

func TestListed(t *testing.T) {
	var all []string
	for i := range maxListed + 2 {
		all = append(all, fmt.Sprint("t", i))
		want := strings.Join(all[:min(len(all), maxListed)], ", ")
		if more := len(all) - maxListed; more > 0 {
			want += fmt.Sprintf(" and %d more", more)
		}
		if got := listed(all); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// text is a log that is read while it is written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *text) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *text) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// TestLooksAreNoCalls: a server that looks for what others have deployed, twice a second, tells no collector of it.
func TestLooksAreNoCalls(t *testing.T) {
	s := newShelf(t)
	s.must("Note.Save", "source", "A.B\nx")
	var told []string
	s.SetSpans(func(caused trace.Trace, call *engine.Span) (trace.Trace, func(*engine.Span)) {
		told = append(told, call.Op)
		return caused, nil
	})
	s.must("Note.List")
	all := Deployments{s.note, s.label}
	if err := errors.Join(all.Load(t.Context(), s.Engine), all.Refresh(t.Context(), s.Engine)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(told, []string{"Note.List"}) {
		t.Errorf("told of %q", told)
	}
}
