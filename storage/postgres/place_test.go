package postgres

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"catena/storage/kv"
	"catena/storage/postgres/pgtest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestPlacesAreHints: rows that have moved, that are gone, and places where other rows are now, are read as they are.
func TestPlacesAreHints(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	const rows = 40
	key := func(i int) []byte { return fmt.Appendf(nil, "row %02d", i) }
	model := map[int]string{}
	check := func(what string) {
		t.Helper()
		err := d.Update(ctx, func(tx *kv.Tx) error {
			keys := make([][]byte, rows)
			for i := range keys {
				keys[i] = key(i)
			}
			got, err := tx.GetMany(keys)
			for i, v := range got {
				if want, there := model[i]; string(v) != want || (v != nil) != there {
					t.Errorf("%s: row %d is %q, want %q", what, i, v, want)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change := func(value func(i int) string) {
		t.Helper()
		err := d.Update(ctx, func(tx *kv.Tx) (err error) {
			for i := range rows {
				if v := value(i); v != "" {
					model[i], err = v, cmp.Or(err, tx.Set(key(i), []byte(v)))
				} else {
					delete(model, i)
					err = cmp.Or(err, tx.Delete(key(i)))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	check("nothing there")
	for round := range 6 {
		change(func(i int) string {
			if (i+round)%3 == 0 {
				return ""
			}
			return fmt.Sprint("value ", i*round)
		})
		check(fmt.Sprint("round ", round))
		if _, err := s.main.Exec(ctx, "VACUUM kv"); err != nil { // places are given to other rows
			t.Fatal(err)
		}
		check("again")
	}
	if at := s.places.of([][]byte{key(1), []byte("nothing"), key(2)}); !at[0].Valid && !at[2].Valid || at[1].Valid {
		t.Errorf("places are known: %v", at)
	}
}

// TestPlacesAreWatched: two transactions that read by place what the other one writes are not both committed, and two that
// write new rows beside rows that both read are.
func TestPlacesAreWatched(t *testing.T) {
	s := opened(t, pgtest.Schema())
	var runs atomic.Int64
	d := kv.New(s, kv.Options{Log: quiet, Observe: func(s kv.Stats) {
		if s.Write {
			runs.Add(int64(s.Attempts))
		}
	}})
	defer d.Close()
	x, y := []byte("x"), []byte("y")
	pair := func(name string, first, second []byte) (again int64) {
		t.Helper()
		before, outer := runs.Load(), false
		err := d.Update(ctx, func(tx *kv.Tx) error {
			_, err := tx.GetMany([][]byte{x, y})
			if !outer {
				outer = true
				err = cmp.Or(err, d.Update(ctx, func(tx *kv.Tx) error {
					_, err := tx.GetMany([][]byte{x, y})
					return cmp.Or(err, tx.Set(second, []byte(name)))
				}))
			}
			return cmp.Or(err, tx.Set(first, []byte(name)))
		})
		if err != nil {
			t.Fatal(err)
		}
		return runs.Load() - before - 2
	}
	if err := d.Update(ctx, func(tx *kv.Tx) error { return cmp.Or(tx.Set(x, []byte("0")), tx.Set(y, []byte("0"))) }); err != nil {
		t.Fatal(err)
	}
	if err := d.Update(ctx, func(tx *kv.Tx) error { _, err := tx.GetMany([][]byte{x, y}); return err }); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if again := pair("beside", fmt.Append(nil, "xa", i), fmt.Append(nil, "xb", i)); again != 0 {
			t.Errorf("new rows beside those that were read: run again %d times", again)
		}
	}
	for range 5 {
		if again := pair("skew", x, y); again != 1 {
			t.Errorf("each wrote what the other one read: run again %d times", again)
		}
	}
}

// TestPlacesAreBounded: what is asked for again stays, and there are never more than two generations.
func TestPlacesAreBounded(t *testing.T) {
	var p places
	at := func(n uint32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 0, 7} }
	for i := range uint32(5 * maxPlaces) {
		p.note(fmt.Append(nil, i), at(i))
		if got := p.of([][]byte{[]byte("0")}); len(got) != 1 || got[0] != (pgtype.TID{OffsetNumber: 7, Valid: true}) {
			t.Fatalf("after %d rows: %v", i, got)
		}
	}
	if n := len(p.young) + len(p.old); n > 2*maxPlaces {
		t.Errorf("%d places are kept", n)
	}
	p.note([]byte("0"), at(9))
	if got := p.of([][]byte{[]byte("0"), []byte("1")}); got[0].BlockNumber != 9 || got[1].Valid {
		t.Errorf("a row that moved, and one that was forgotten: %v", got)
	}
	if p.note([]byte("2"), []byte("short")); p.of([][]byte{[]byte("2")})[0].Valid {
		t.Error("what is no place was kept")
	}
}

// TestPlacesOfMany: of many rows each is read where it is, and compared with no other.
func TestPlacesOfMany(t *testing.T) {
	s := opened(t, pgtest.Schema())
	d := kv.New(s, kv.Options{Log: quiet})
	defer d.Close()
	const rows = 300
	keys := make([][]byte, rows)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "row %04d", i)
	}
	if err := d.Update(ctx, func(tx *kv.Tx) error { return fill(tx, "row ", rows) }); err != nil {
		t.Fatal(err)
	}
	if err := d.Update(ctx, func(tx *kv.Tx) error { _, err := tx.GetMany(keys); return err }); err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"get_at", "guard_at"} {
		lines, _ := s.main.Query(ctx, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+statements[statement], pgx.QueryExecModeExec, keys, s.places.of(keys))
		plan, err := pgx.CollectRows(lines, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for _, line := range plan {
			if n, ok := strings.CutPrefix(strings.TrimSpace(line), "Rows Removed by "); ok {
				_, n, _ = strings.Cut(n, ": ")
				more, _ := strconv.Atoi(n)
				passed += more
			}
		}
		if text := strings.Join(plan, "\n"); passed > rows || !strings.Contains(text, "Tid Scan") || strings.Contains(text, "Seq Scan") {
			t.Errorf("%s passes over %d rows:\n%s", statement, passed, text)
		}
	}
}
