package postgres

import (
	"os"
	"strconv"
	"testing"

	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// TestPromoted kills the primary under load and promotes its synchronous standby, over and over, with the roles exchanged each
// time: what was acknowledged is on the new primary, once. CATENA_KILLS is how often, by default twice.
func TestPromoted(t *testing.T) {
	pgtest.Address(t) // skips if there is none
	kills, _ := strconv.Atoi(os.Getenv("CATENA_KILLS"))
	if kills == 0 {
		kills = 2
	}
	var servers [2]*pgtest.Server
	for i := range servers {
		server, err := pgtest.Start(pgtest.Settings...)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Stop()
		servers[i] = server
	}
	primary, standby := servers[0], servers[1]
	standby.Kill()
	pair := func() error {
		if err := standby.Standby(primary); err != nil {
			return err
		}
		return primary.Synchronous(ctx)
	}
	if err := pair(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, pgtest.Either(servers[0], servers[1]), Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	// While commits wait for a standby, others that touch the same key conflict at once, more often than the usual 16 times.
	d := kv.New(s, kv.Options{Log: quiet, Attempts: 1000})
	underFaults(t, d, kills, "promotions", func() error {
		primary.Kill()
		if err := standby.Promote(ctx); err != nil {
			return err
		}
		primary, standby = standby, primary
		return pair()
	})
}
