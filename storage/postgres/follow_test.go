package postgres

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// TestFollow fetches rows of an index with what they lead to, in one round trip, and reads all of it: the values, and what is absent,
// are those of the rows, in any direction, and from any place on.
func TestFollow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(18, 1))
	s := opened(t, pgtest.Schema())
	defer s.Close()
	db := kv.New(s, kv.Options{})
	var index [][]byte
	want := map[string][]byte{}
	if err := db.Update(t.Context(), func(tx *kv.Tx) error {
		for i := range 150 {
			id := fmt.Appendf(nil, "%016d", rnd.Uint64N(1e15))
			row := append(fmt.Appendf(nil, "x%03d", i/2), id...)
			index = append(index, row)
			for space, always := range map[string]bool{"x": true, "D": i%7 > 0, "t": i%5 > 0} {
				key := append([]byte(space), id...)
				if space == "x" {
					key = row
				}
				if !always {
					want[string(key)] = nil
					continue
				}
				want[string(key)] = fmt.Appendf(nil, "%s of %d", space, i)
				if err := tx.Set(key, want[string(key)]); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(index, bytes.Compare)
	for range 60 {
		from, limit := rnd.IntN(len(index)), 1+rnd.IntN(len(index))
		r := kv.Range{Start: index[from], End: []byte("y"), Limit: limit, Reverse: rnd.IntN(2) == 0, Follow: [][]byte{[]byte("D"), []byte("t")}[:1+rnd.IntN(2)]}
		if rnd.IntN(3) == 0 && !r.Reverse {
			r.End = nil
		}
		rows := slices.Clone(index[from:])
		if r.Reverse {
			slices.Reverse(rows)
		}
		rows = rows[:min(limit, len(rows))]
		if err := db.View(t.Context(), func(tx *kv.Tx) error { return followed(t, tx, r, rows, want) }); err != nil {
			t.Fatal(err)
		}
	}
}

// followed fetches a range, and reads its rows and what they lead to.
func followed(t *testing.T, tx *kv.Tx, r kv.Range, rows [][]byte, want map[string][]byte) error {
	t.Helper()
	if err := tx.Prefetch(nil, r); err != nil {
		return err
	}
	before := tx.RoundTrips()
	whole, n := r, 0
	whole.Limit = len(rows) // what is behind it was not fetched
	for row, err := range tx.Scan(whole) {
		if err != nil {
			return err
		}
		if !bytes.Equal(row.Key, rows[n]) || !bytes.Equal(row.Value, want[string(row.Key)]) {
			t.Errorf("%q has %q, want %q with %q", row.Key, row.Value, rows[n], want[string(rows[n])])
		}
		n++
		for _, space := range r.Follow {
			key := append(space[:1:1], row.Key[len(row.Key)-16:]...)
			v, err := tx.Get(key)
			if err != nil || !bytes.Equal(v, want[string(key)]) || (v == nil) != (want[string(key)] == nil) {
				t.Errorf("%q leads to %q with %q, %v, want %q", row.Key, key, v, err, want[string(key)])
			}
		}
	}
	if n != len(rows) || tx.RoundTrips() != before {
		t.Errorf("%d rows of %d, and %d round trips more", n, len(rows), tx.RoundTrips()-before)
	}
	return nil
}

// TestFollowShortKeys follows rows whose keys are too short to have an id.
func TestFollowShortKeys(t *testing.T) {
	s := opened(t, pgtest.Schema())
	defer s.Close()
	db := kv.New(s, kv.Options{})
	if err := db.Update(t.Context(), func(tx *kv.Tx) error { return tx.Set([]byte("xa"), []byte("v")) }); err != nil {
		t.Fatal(err)
	}
	err := db.View(t.Context(), func(tx *kv.Tx) error {
		if err := tx.Prefetch(nil, kv.Range{Start: []byte("x"), End: []byte("y"), Limit: 5, Follow: [][]byte{[]byte("D")}}); err != nil {
			return err
		}
		v, err := tx.Get([]byte("xa"))
		if string(v) != "v" {
			t.Errorf("got %q", v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPrefetchMany: of more keys than are remembered, none that is there is taken for missing, and those read last are not asked for again.
func TestPrefetchMany(t *testing.T) {
	s := opened(t, pgtest.Schema())
	defer s.Close()
	db := kv.New(s, kv.Options{})
	const n = 25_000 // 20,000 are remembered
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = fmt.Appendf(nil, "k%05d", i)
	}
	for some := range slices.Chunk(keys, 5000) {
		if err := db.Update(t.Context(), func(tx *kv.Tx) (err error) {
			for _, k := range some {
				err = cmp.Or(err, tx.Set(k, []byte("v")))
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{n, 1024} { // together, and as scans read ahead
		err := db.View(t.Context(), func(tx *kv.Tx) error {
			for some := range slices.Chunk(keys, at) {
				if err := tx.Prefetch(some); err != nil {
					return err
				}
				for _, k := range some[:min(len(some), 1024)] {
					if v, err := tx.Get(k); err != nil || string(v) != "v" {
						t.Fatalf("%d at a time: %s is %q (%v)", at, k, v, err)
					}
				}
			}
			if trips := tx.RoundTrips(); at < n && trips > n/at+1 {
				t.Errorf("%d at a time: %d round trips", at, trips)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPrefetchOwn: the store is not asked for what the transaction has written itself.
func TestPrefetchOwn(t *testing.T) {
	s := opened(t, pgtest.Schema())
	defer s.Close()
	db := kv.New(s, kv.Options{})
	if err := db.Update(t.Context(), func(tx *kv.Tx) error {
		if err := cmp.Or(tx.Set([]byte("a"), []byte("1")), tx.Delete([]byte("b")), tx.Prefetch([][]byte{[]byte("a"), []byte("b")})); err != nil {
			return err
		}
		if n := tx.RoundTrips(); n != 0 {
			t.Errorf("%d round trips for own writes", n)
		}
		if err := tx.Prefetch([][]byte{[]byte("a"), []byte("c")}); err != nil {
			return err
		}
		before := tx.RoundTrips()
		found, err := tx.GetMany([][]byte{[]byte("a"), []byte("b"), []byte("c")})
		if n := tx.RoundTrips(); n != before || before != 1 || string(found[0]) != "1" || found[1] != nil || found[2] != nil {
			t.Errorf("%d and %d round trips, %q", before, n, found)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// TestManyRanges fetches several ranges at once, of the same form and of others, and reads each of them: as a transaction does that has fetched nothing.
func TestManyRanges(t *testing.T) {
	rnd := rand.New(rand.NewPCG(18, 2))
	s := opened(t, pgtest.Schema())
	defer s.Close()
	db := kv.New(s, kv.Options{})
	if err := db.Update(t.Context(), func(tx *kv.Tx) error {
		for i := range 400 {
			id := fmt.Appendf(nil, "%016d", i)
			if err := tx.Set(append(fmt.Appendf(nil, "x%02d", rnd.IntN(30)), id...), fmt.Append(nil, i)); err != nil {
				return err
			}
			if i%3 > 0 {
				if err := tx.Set(append([]byte("D"), id...), fmt.Append(nil, "of", i)); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		var ranges []kv.Range
		r := kv.Range{Limit: rnd.IntN(12), KeysOnly: rnd.IntN(2) == 0, Reverse: rnd.IntN(2) == 0}
		if !r.KeysOnly && rnd.IntN(2) == 0 {
			r.Follow = [][]byte{[]byte("D")}
		}
		for _, at := range rnd.Perm(32)[:1+rnd.IntN(20)] {
			if rnd.IntN(8) == 0 {
				r.Limit++
			}
			r.Start, r.End = fmt.Appendf(nil, "x%02d", at), fmt.Appendf(nil, "x%02d", at+1+rnd.IntN(2))
			ranges = append(ranges, r)
		}
		if err := db.View(t.Context(), func(tx *kv.Tx) error {
			if err := tx.Prefetch(nil, ranges...); err != nil {
				return err
			}
			if n := tx.RoundTrips(); n != 1 {
				t.Errorf("%d round trips", n)
			}
			for _, r := range ranges {
				want, err := scanned(t, db, r)
				if err != nil {
					return err
				}
				before := tx.RoundTrips()
				if got, err := rowsOf(tx, r); err != nil || got != want {
					t.Errorf("%q: %s, %v, want %s", r.Start, got, err, want)
				}
				if r.Limit > 0 && tx.RoundTrips() > before {
					t.Errorf("%q, at most %d rows, took another round trip", r.Start, r.Limit)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// scanned is what a new transaction finds in a range.
func scanned(t *testing.T, db *kv.DB, r kv.Range) (got string, err error) {
	err = db.View(t.Context(), func(tx *kv.Tx) (err error) {
		got, err = rowsOf(tx, r)
		return err
	})
	return got, err
}

// rowsOf writes the rows of a range, and what they lead to.
func rowsOf(tx *kv.Tx, r kv.Range) (string, error) {
	var b bytes.Buffer
	for row, err := range tx.Scan(kv.Range{Start: r.Start, End: r.End, Limit: r.Limit, KeysOnly: r.KeysOnly, Reverse: r.Reverse}) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s=%s ", row.Key, row.Value)
		for _, begin := range r.Follow {
			v, err := tx.Get(append(bytes.Clone(begin), row.Key[len(row.Key)-16:]...))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%s ", v)
		}
	}
	return b.String(), nil
}
