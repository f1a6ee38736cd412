package postgres

import (
	"context"
	"log/slog"
	"os"
	"testing"

	"catena/storage/kv"
	"catena/storage/kv/kvtest"
	"catena/storage/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var (
	ctx   = context.Background()
	quiet = slog.New(slog.DiscardHandler)
)

func opened(t testing.TB, schema string) *Store {
	t.Helper()
	s, err := Open(ctx, pgtest.Address(t), Options{Log: quiet, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestContract(t *testing.T) {
	kvtest.Run(t, func(t *testing.T) kv.Store { return opened(t, pgtest.Schema()) })
}

func TestNodes(t *testing.T) {
	kvtest.RunNodes(t, func(t *testing.T) (a, b kv.Store) {
		schema := pgtest.Schema()
		return opened(t, schema), opened(t, schema)
	})
}
