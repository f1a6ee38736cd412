package user

import (
	"context"
	"log/slog"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// TestKeyLife makes a key, signs in with it, and revokes it.
func TestKeyLife(t *testing.T) {
	e := newEngine(t)
	ctx := context.Background()
	run := func(as *storage.Principal, op string, params map[string]any) (any, error) {
		res, err := e.Run(ctx, engine.Call{Op: op, Params: params, As: as, EntryPoint: engine.REST})
		if err != nil {
			return nil, err
		}
		return res.Value, nil
	}
	admin := e.System()
	if _, err := run(admin, "User.CreateOrUpdate", map[string]any{"username": "bob", "password": "open sesame"}); err != nil {
		t.Fatal(err)
	}
	bob, err := credential.SignIn(ctx, e.Repo(), "bob", "open sesame")
	if err != nil {
		t.Fatal(err)
	}
	v, err := run(bob, "Key.Create", map[string]any{"name": "reader", "expires": "2099-01-01"})
	if err != nil {
		t.Fatal(err)
	}
	made := v.(map[string]any)
	reader, err := credential.SignInKey(ctx, e.Repo(), made["key"].(string))
	if err != nil || reader.Name != "bob" || !reader.ReadOnly {
		t.Fatalf("signed in as %+v, %v; want bob, reading only", reader, err)
	}
	if _, err := run(reader, "Key.Create", nil); !fault.Is(err, fault.Denied) {
		t.Errorf("a key that only reads made a key: %v", err)
	}
	v, err = run(bob, "Key.List", nil)
	if err != nil {
		t.Fatal(err)
	}
	listed := v.([]any)
	if len(listed) != 1 {
		t.Fatalf("keys: %v", listed)
	}
	first := listed[0].(map[string]any)
	if _, shown := first["key"]; shown || first["id"] != made["id"] || first["name"] != "reader" || first["scope"] != "read_only" {
		t.Errorf("listed: %v", first)
	}
	if _, err := run(bob, "Key.Revoke", map[string]any{"id": made["id"]}); err != nil {
		t.Fatal(err)
	}
	if _, err := credential.SignInKey(ctx, e.Repo(), made["key"].(string)); !fault.Is(err, fault.Denied) {
		t.Errorf("signed in with a revoked key: %v", err)
	}
}

func newEngine(t *testing.T) *engine.Engine {
	t.Helper()
	set, err := engine.NewSet(Ops)
	if err != nil {
		t.Fatal(err)
	}
	return engine.New(engine.Config{Repo: storagetest.NewWorld(t).Repo, Set: set, Log: slog.New(slog.DiscardHandler)})
}
