package library

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/engine"
)

// deployed is a kind of text as Deployments has it.
type deployed struct{ *Kind }

func (d deployed) Load(ctx context.Context, e *engine.Engine) error { return d.Kind.Load(ctx, e) }

func (d deployed) Refresh(ctx context.Context, e *engine.Engine) error { return d.Kind.Refresh(ctx, e) }

// beside is another server on the store of a shelf.
func (s *shelf) beside() (*shelf, Deployments) {
	s.t.Helper()
	other := &shelf{t: s.t, note: textKind("Note"), label: textKind("Label")}
	all := Deployments{deployed{other.label}, deployed{other.note}}
	set, err := engine.NewSet(all.Ops())
	if err != nil {
		s.t.Fatal(err)
	}
	other.Engine = engine.New(engine.Config{Repo: s.Repo(), Set: set, Log: slog.New(slog.DiscardHandler)})
	return other, all
}

// TestDeployments has a server load what another one has deployed, and follow what it deploys and withdraws; what one kind
// cannot deploy is no reason to leave out another.
func TestDeployments(t *testing.T) {
	s := newShelf(t)
	s.must("Label.Save", "source", "L.L\nl")
	s.must("Note.Save", "source", "A.A needs L.L\na")
	s.must("Label.Save", "source", "M.M needs X.X\nm")
	other, all := s.beside()
	if err := all.Load(t.Context(), other.Engine); err == nil || err.Error() != "label M.M: operation X.X" {
		t.Errorf("got %v", err)
	}
	other.says("A.A", "a")
	other.says("L.L", "l")

	s.must("Note.Save", "source", "A.A\nnew")
	s.must("Label.Delete", "name", "L.L")
	s.must("Label.Delete", "name", "M.M")
	other.says("A.A", "a")
	if err := all.Refresh(t.Context(), other.Engine); err != nil {
		t.Error(err)
	}
	other.says("A.A", "new")
	other.says("L.L", "")
	if err := (Deployments{}).Load(t.Context(), other.Engine); err != nil {
		t.Error(err)
	}
}

// TestFollow has a server follow another one without being told, and log what it cannot deploy, until
// it can.
func TestFollow(t *testing.T) {
	s := newShelf(t)
	other, all := s.beside()
	var log text
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- all.Follow(ctx, other.Engine, slog.New(slog.NewTextHandler(&log, nil))) }()
	await := func(what string, is func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	has := func(name string) func() bool {
		return func() bool { _, ok := other.Set().Op(name); return ok }
	}
	s.must("Note.Save", "source", "A.A\na")
	await("A.A is not deployed", has("A.A"))
	s.must("Label.Save", "source", "M.M needs B.B\nm")
	await("nothing is logged", func() bool { return strings.Contains(log.String(), "label M.M: operation B.B") })
	s.must("Note.Save", "source", "B.B\nb")
	await("M.M is not deployed", has("M.M"))
	stop()
	if err := <-done; err != nil {
		t.Error(err)
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
