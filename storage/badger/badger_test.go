package badger

import (
	"log/slog"
	"testing"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
)

var quiet = slog.New(slog.DiscardHandler)

func open(t testing.TB, dir string, d Durability) *store {
	t.Helper()
	s, err := Open(dir, Options{Durability: d, Log: quiet, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*store)
}

func TestContract(t *testing.T) {
	for name, d := range map[string]Durability{"strict": Strict, "relaxed": Relaxed} {
		t.Run(name, func(t *testing.T) {
			kvtest.Run(t, func(t *testing.T) kv.Store { return open(t, t.TempDir(), d) })
		})
	}
}
