package library

import (
	"context"
	"log/slog"
	"testing"

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
