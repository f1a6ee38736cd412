package hook

import (
	"log/slog"
	"testing"

	"catena/engine"
	"catena/engine/library"
	"catena/storage"
	"catena/storage/keyring"
	"catena/storage/storagetest"
)

// TestSecrets: the secrets of a hook end in the transaction that deletes it, and not when a server hears of that, which may be
// after a hook of the same name has got one.
func TestSecrets(t *testing.T) {
	h := New()
	set, err := engine.NewSet(h.Ops(), []engine.Op{{Name: "Test.Nothing", Doc: "Does nothing.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(func(struct{}, *engine.Ctx, engine.Void) (string, error) { return "", nil })}})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Repo: storagetest.Open(t, nil), Set: set, Log: slog.New(slog.DiscardHandler)})
	if err := h.Load(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	call := func(op string, params map[string]any) {
		t.Helper()
		if _, err := e.Run(t.Context(), engine.Call{Op: op, As: e.System(), Params: params, EntryPoint: engine.REST}); err != nil {
			t.Fatal(err)
		}
	}
	secrets := func(want int) {
		t.Helper()
		err := e.Repo().View(t.Context(), e.System(), func(tx *storage.Tx) error {
			keys, err := keyring.Hooks.Keys(tx, "form")
			if len(keys) != want {
				t.Errorf("%d secrets, want %d", len(keys), want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	save := func() {
		t.Helper()
		call("Hook.Save", map[string]any{"source": "name: form\nas: Administrator\nrun: Test.Nothing\n"})
		call("Hook.RenewSecret", map[string]any{"name": "form"})
	}
	save()
	secrets(1)
	call("Hook.Delete", map[string]any{"name": "form"})
	secrets(0)
	save()
	if err := h.put(nil); err != nil { // as a server that hears of the deletion now
		t.Error(err)
	}
	secrets(1)
}

// TestPut: a hook whose text this server does not understand is left out, and the others are deployed.
func TestPut(t *testing.T) {
	h := New()
	err := h.put([]library.Version{{Name: "a", File: "a.yaml", Source: "name: a\nas: bob\nrun: X.X\n"}, {Name: "b", File: "b.yaml", Source: "name: b\nfrom: the future\n"}, {Name: "c", File: "c.yaml", Source: "name: c\nas: bob\nrun: X.X\n"}})
	if err == nil || h.find("a") == nil || h.find("b") != nil || h.find("c") == nil {
		t.Errorf("%v: %v", h.names(), err)
	}
}
