package badger

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/dgraph-io/ristretto/v2/z"

	"catena/storage/kv"
)

// TestLevel0 writes, removes, moves, replays and merges rows, and looks into the tables for what makes it safe that Badger
// merges tables of level 0 in any order: each spans all keys, and no row is there twice at one version.
func TestLevel0(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	var s *store
	var d *kv.DB
	reopen := func() {
		s = open(t, dir, Strict)
		s.values.Smallest = 50 << 10
		d = kv.New(s, kv.Options{})
	}
	reopen()
	for round := range 40 {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for range 40 {
				key := fmt.Append(nil, "key", r.IntN(60))
				if r.IntN(4) == 0 {
					if err := tx.Delete(key); err != nil {
						return err
					}
				} else if err := tx.Set(key, bytes.Repeat([]byte{byte(round)}, 10+r.IntN(3000))); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		switch round % 8 {
		case 3:
			if err := s.flushTables(); err != nil {
				t.Fatal(err)
			}
		case 5:
			if err := s.Compact(ctx); err != nil {
				t.Fatal(err)
			}
		case 7:
			checkTables(t, s)
			to := copyLive(t, s) // as a machine that stops leaves it
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			dir = to
			reopen()
		}
	}
	checkTables(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// checkTables reads every table.
func checkTables(t *testing.T, s *store) {
	t.Helper()
	seen := map[string]uint64{}
	for _, info := range s.db.Tables() {
		if from, to := y.ParseKey(info.Left), y.ParseKey(info.Right); info.Level == 0 && (!bytes.Equal(from, first) || !bytes.Equal(to, last)) {
			t.Errorf("table %d of level 0 is from %q to %q", info.ID, from, to)
		}
		copied := filepath.Join(t.TempDir(), table.IDToFilename(info.ID))
		b, err := os.ReadFile(table.NewFilename(info.ID, s.tables()))
		if os.IsNotExist(err) {
			continue // merged meanwhile
		}
		if err == nil {
			err = os.WriteFile(copied, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := z.OpenMmapFile(copied, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		one, err := table.OpenTable(file, table.Options{ChkMode: options.OnTableAndBlockRead})
		if err != nil {
			t.Fatal(err)
		}
		it := one.NewIterator(0)
		for it.Rewind(); it.Valid(); it.Next() {
			if isReserved(y.ParseKey(it.Key())) {
				continue
			}
			if other, twice := seen[string(it.Key())]; twice {
				t.Errorf("key %q at version %d is in the tables %d and %d", y.ParseKey(it.Key()), y.ParseTs(it.Key()), other, info.ID)
			}
			seen[string(it.Key())] = info.ID
		}
		_ = it.Close()
		_ = one.DecrRef()
	}
}
