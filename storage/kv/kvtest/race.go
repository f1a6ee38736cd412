package kvtest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"catena/storage/fault"
	"catena/storage/kv"
)

func testSnapshots(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1", "b", "1")
	var first uint64
	if err := d.View(ctx, func(tx *kv.Tx) error {
		first = tx.Version()
		put(t, d, "a", "2", "c", "2")
		update(t, d, func(tx *kv.Tx) error {
			if tx.Version() <= first {
				t.Errorf("version %d after %d", tx.Version(), first)
			}
			return tx.Delete([]byte("b"))
		})
		got, err := dump(tx, kv.Range{})
		want(t, "in the view", got, "a=1 b=1 ")
		v, _ := tx.Get([]byte("a"))
		want(t, "get in the view", text(v), "1")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want(t, "after", get(t, d, "a")+get(t, d, "b")+get(t, d, "c"), "2-2")
}

// testCreateSemantics: Create fails if the key exists at the commit or was created before in the transaction, whatever follows it.
func testCreateSemantics(t *testing.T, d *kv.DB) {
	put(t, d, "there", "1")
	create := func(key string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error { return tx.Create([]byte(key), []byte("2")) }
	}
	del := func(key string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error { return tx.Delete([]byte(key)) }
	}
	for _, tt := range []struct {
		name  string
		steps []func(*kv.Tx) error
		ok    bool
	}{
		{"there", []func(*kv.Tx) error{create("there")}, false},
		{"there, then set", []func(*kv.Tx) error{create("there"), set("there", "3")}, false},
		{"there, then deleted", []func(*kv.Tx) error{create("there"), del("there")}, false},
		{"twice", []func(*kv.Tx) error{create("new"), create("new")}, false},
		{"set before", []func(*kv.Tx) error{set("new", "1"), create("new")}, false},
		{"deleted before", []func(*kv.Tx) error{del("there"), create("there")}, true},
		{"deleted between", []func(*kv.Tx) error{create("new"), del("new"), create("new")}, true},
		{"and deleted", []func(*kv.Tx) error{create("newer"), del("newer")}, true},
	} {
		err := d.Update(ctx, func(tx *kv.Tx) error {
			for _, step := range tt.steps {
				if err := step(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if tt.ok && err != nil || !tt.ok && !fault.Is(err, fault.Exists) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	want(t, "there", get(t, d, "there"), "2")
	want(t, "new", get(t, d, "new"), "2")
	want(t, "newer", get(t, d, "newer"), "-")
}

func testCreateRace(t *testing.T, nodes ...*kv.DB) {
	for round := range 20 {
		var won, lost atomic.Int32
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				err := nodes[i%len(nodes)].Update(ctx, func(tx *kv.Tx) error { return tx.Create(fmt.Appendf(nil, "r%d", round), nil) })
				switch {
				case err == nil:
					won.Add(1)
				case fault.Is(err, fault.Exists):
					lost.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 7 {
			t.Errorf("round %d: %d won, %d lost", round, won.Load(), lost.Load())
		}
	}
}

func testLostUpdate(t *testing.T, d *kv.DB) {
	put(t, d, "n", "0")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				if err := increment(d, "n"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	want(t, "counter", get(t, d, "n"), "200")
	// Writes that rest on no read do not fight.
	runs := race(t, d, func(*kv.Tx) error { return nil }, set("n", "x"), set("n", "y"))
	if runs != 1 {
		t.Errorf("blind write ran %d times", runs)
	}
	want(t, "last writer", get(t, d, "n"), "y")
}

func increment(d *kv.DB, key string) error {
	return d.Update(ctx, func(tx *kv.Tx) error {
		v, err := tx.Get([]byte(key))
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(v))
		return tx.Set([]byte(key), strconv.AppendInt(nil, int64(n+1), 10))
	})
}

// testContention has many writers fight for one key: all get through.
func testContention(t *testing.T, nodes ...*kv.DB) {
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for range 10 {
				if err := increment(nodes[i%len(nodes)], "hot"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for _, d := range nodes {
		want(t, "counter", get(t, d, "hot"), "640")
	}
}

// testVoid asks for keys between rows after having looked where the next row is: answers are as without
// that, and only keys that were asked for are validated.
func testVoid(t *testing.T, d *kv.DB) {
	put(t, d, "n/a", "1", "n/m", "2", "o", "3")
	ask := func(keys ...string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error {
			if err := tx.Void([]byte("n/b"), []byte("n0")); err != nil {
				return err
			}
			if err := tx.Set([]byte("n/c"), []byte("own")); err != nil {
				return err
			}
			for i, key := range append([]string{"n/a", "n/c", "n/m", "o"}, keys...) {
				v, err := tx.Get([]byte(key))
				if err != nil {
					return err
				}
				want(t, key, text(v), [...]string{"1", "own", "2", "3", "-", "-"}[i])
			}
			return tx.Delete([]byte("n/c"))
		}
	}
	runs := race(t, d, ask("n/d", "n/l"), set("n/e", "other"), set("done", "1"))
	if runs != 1 {
		t.Errorf("a key that nobody asked for: %d runs", runs)
	}
	put(t, d, "n/m", "2")
	runs = cross(t, d, func(tx *kv.Tx) error {
		_, err := tx.Get([]byte("n/m"))
		if err == nil {
			err = tx.Void([]byte("n/f"), []byte("n/m"))
		}
		if err == nil {
			_, err = tx.Get([]byte("n/g"))
		}
		return err
	}, set("n/g", "other"), set("done", "2"))
	if runs != 2 {
		t.Errorf("a key that was asked for: %d runs", runs)
	}
}

// testWriteSkew: a transaction whose reads another one has changed runs again, even if both write different keys. Keys that did not
// exist count as read too; a transaction that writes nothing never runs again.
func testWriteSkew(t *testing.T, d *kv.DB) {
	put(t, d, "a", "1", "b", "1")
	read := func(keys ...string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error {
			for _, k := range keys {
				if _, err := tx.Get([]byte(k)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	many := func(tx *kv.Tx) error { _, err := tx.GetMany([][]byte{[]byte("a"), []byte("b")}); return err }
	for _, tt := range []struct {
		name               string
		read, other, write func(*kv.Tx) error
		runs               int
	}{
		{"present", read("a", "b"), set("b", "2"), set("a", "2"), 2},
		{"present, many", many, set("b", "2"), set("a", "2"), 2},
		{"absent", read("x"), set("x", "1"), set("y", "1"), 2},
		{"deleted", read("b"), func(tx *kv.Tx) error { return tx.Delete([]byte("b")) }, set("a", "3"), 2},
		{"unrelated", read("a"), set("far", "1"), set("a", "4"), 1},
		{"own write read back", func(tx *kv.Tx) error { _ = tx.Set([]byte("o"), nil); return read("o")(tx) }, set("o", "1"), set("p", "1"), 1},
	} {
		if runs := collide(t, d, tt.runs, tt.read, tt.other, tt.write); runs != tt.runs {
			t.Errorf("%s: ran %d times, want %d", tt.name, runs, tt.runs)
		}
	}
	runs := race(t, d, read("a"), set("a", "5"), func(*kv.Tx) error { return nil })
	if runs != 1 {
		t.Errorf("a transaction that writes nothing ran %d times", runs)
	}
}

// testStrict: what has read a row does not come before a strict transaction that writes it and is committed first, although that one has
// read nothing; what has not read it does.
func testStrict(t *testing.T, d *kv.DB) {
	put(t, d, "key", "good", "other", "1")
	read := func(key string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error { _, err := tx.Get([]byte(key)); return err }
	}
	for _, tt := range []struct {
		name, reads string
		runs        int
	}{{"it was read", "key", 2}, {"another was read", "other", 1}} {
		runs := race(t, d, read(tt.reads), func(tx *kv.Tx) error {
			tx.Strict()
			return tx.Set([]byte("key"), []byte("revoked"))
		}, set("far", "1"))
		if runs != tt.runs {
			t.Errorf("%s: ran %d times, want %d", tt.name, runs, tt.runs)
		}
	}
}

// fiveRows makes k10 to k50 all there is.
func fiveRows(tx *kv.Tx) error {
	for row, err := range tx.Scan(kv.Range{}) {
		if err != nil {
			return err
		}
		_ = tx.Delete(row.Key)
	}
	for _, k := range []string{"k10", "k20", "k30", "k40", "k50"} {
		_ = tx.Set([]byte(k), []byte("1"))
	}
	return nil
}

// testPhantoms: a scan conflicts with rows that appear, change or disappear in the part of its range that it has passed, and only
// there, so that a page at the beginning of a long index does not conflict with writes behind it.
func testPhantoms(t *testing.T, d *kv.DB) {
	scan := func(r kv.Range, stopAt int) func(*kv.Tx) error {
		return func(tx *kv.Tx) error {
			n := 0
			for _, err := range tx.Scan(r) {
				if err != nil {
					return err
				}
				if n++; n == stopAt {
					break
				}
			}
			return nil
		}
	}
	count := func(max int) func(*kv.Tx) error {
		return func(tx *kv.Tx) error { _, _, err := tx.Count(kv.Prefix([]byte("k")), max); return err }
	}
	all := kv.Prefix([]byte("k"))
	limited, reverse, back := all, all, all
	limited.Limit, reverse.Reverse, back.Reverse, back.Limit = 2, true, true, 2
	del := func(key string) func(*kv.Tx) error {
		return func(tx *kv.Tx) error { return tx.Delete([]byte(key)) }
	}
	for _, tt := range []struct {
		name        string
		read, other func(*kv.Tx) error
		runs        int
	}{
		{"insert", scan(all, 0), set("k35", "x"), 2},
		{"insert at the start", scan(all, 0), set("k", "x"), 2},
		{"insert behind the last", scan(all, 0), set("k9", "x"), 2},
		{"insert outside", scan(all, 0), set("l", "x"), 1},
		{"delete", scan(all, 0), del("k40"), 2},
		{"overwrite", scan(all, 0), set("k40", "x"), 2},
		{"reverse", scan(reverse, 0), set("k35", "x"), 2},
		{"empty", scan(kv.Prefix([]byte("none")), 0), set("none1", "x"), 2},
		{"limited, before", scan(limited, 0), set("k15", "x"), 2},
		{"limited, last row", scan(limited, 0), set("k20", "x"), 2},
		{"limited, behind", scan(limited, 0), set("k201", "x"), 1},
		{"limited reverse, before", scan(back, 0), set("k55", "x"), 2},
		{"limited reverse, last row", scan(back, 0), set("k40", "x"), 2},
		{"limited reverse, behind", scan(back, 0), set("k39", "x"), 1},
		{"interrupted, before", scan(all, 2), set("k15", "x"), 2},
		{"interrupted, behind", scan(all, 2), set("k35", "x"), 1},
		{"count", count(100), set("k99", "x"), 2},
		{"bounded count, within", count(2), set("k25", "x"), 2},
		{"bounded count, behind", count(2), set("k45", "x"), 1},
		{"keys only", scan(kv.Range{Start: all.Start, End: all.End, KeysOnly: true}, 0), set("k10", "x"), 2},
	} {
		update(t, d, fiveRows)
		if runs := collide(t, d, tt.runs, tt.read, tt.other, set("result", "x")); runs != tt.runs {
			t.Errorf("%s: ran %d times, want %d", tt.name, runs, tt.runs)
		}
	}
}

// testSerializable plays transactions that keep an invariant no snapshot isolation
// keeps: of each pair at most one key is set, and the number of rows stays bounded.
func testSerializable(t *testing.T, nodes ...*kv.DB) {
	d := nodes[0]
	const bound = 5
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 9))
			for range 60 {
				if err := nodes[w%len(nodes)].Update(ctx, func(tx *kv.Tx) error { return step(tx, r, bound) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := d.View(ctx, func(tx *kv.Tx) error {
		seen := map[string]int{}
		rows := 0
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			rows++
			pair, _, _ := strings.Cut(string(row.Key), "/")
			if seen[pair]++; seen[pair] > 1 {
				t.Errorf("pair %s is set twice", pair)
			}
		}
		if rows > bound {
			t.Errorf("%d rows, bound %d", rows, bound)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func step(tx *kv.Tx, r *rand.Rand, bound int) error {
	pair, side := r.IntN(8), r.IntN(2)
	mine, theirs := fmt.Appendf(nil, "%d/%d", pair, side), fmt.Appendf(nil, "%d/%d", pair, 1-side)
	if r.IntN(3) == 0 {
		return tx.Delete(mine)
	}
	other, err := tx.Get(theirs)
	if err != nil || other != nil {
		return err
	}
	n, _, err := tx.Count(kv.Range{}, bound)
	if err != nil || n >= bound {
		return err
	}
	return tx.Set(mine, []byte("1"))
}

func testSequences(t *testing.T, d *kv.DB) {
	var mu sync.Mutex
	seen := map[int64]bool{}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var last int64
			for range 300 {
				n, err := d.Next(ctx, "ids")
				if err != nil || n <= last {
					t.Errorf("%d after %d, %v", n, last, err)
				}
				last = n
				mu.Lock()
				if seen[n] {
					t.Errorf("%d came twice", n)
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 2400 || !seen[1] || !seen[2400] {
		t.Errorf("%d numbers", len(seen))
	}
	runs := 0
	update(t, d, func(tx *kv.Tx) error {
		runs++
		n, err := d.Next(ctx, "other")
		if err != nil || n != 1 {
			t.Errorf("other: %d, %v", n, err)
		}
		return tx.Set([]byte("a"), nil)
	})
	if runs != 1 {
		t.Errorf("a sequence made its caller run %d times", runs)
	}
	_, err := d.Next(ctx, "")
	wantKind(t, "no name", err, fault.Invalid)
}

func testVerify(t *testing.T, d *kv.DB) {
	update(t, d, func(tx *kv.Tx) error {
		for i := range 2500 {
			_ = tx.Set(fmt.Appendf(nil, "%04d", i), []byte("123456"))
		}
		return nil
	})
	last := 0
	r, err := d.Verify(ctx, func(n int) { last = n })
	if err != nil || r.Keys != 2500 || r.Bytes != 25000 || r.Bad != 0 || last != 2500 {
		t.Errorf("%+v, %v, progress %d", r, err, last)
	}
}

func testDumpLoad(t *testing.T, d *kv.DB, open func(*testing.T) kv.Store) {
	update(t, d, func(tx *kv.Tx) error {
		for i := range 30_000 {
			_ = tx.Set(fmt.Appendf(nil, "%05d\x00\xff", i), bytes.Repeat([]byte{byte(i)}, i%50))
		}
		return nil
	})
	var dumped, again bytes.Buffer
	if err := d.Dump(ctx, &dumped); err != nil {
		t.Fatal(err)
	}
	whole := dumped.Bytes()
	other := kv.New(open(t), kv.Options{})
	defer func() { _ = other.Close() }()
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 4
	for _, bad := range [][]byte{nil, whole[:5], whole[:len(whole)/2], whole[:len(whole)-1], whole[:len(whole)-33], flipped, []byte(strings.Repeat("x", 100))} {
		wantKind(t, fmt.Sprintf("%d of %d bytes", len(bad), len(whole)), other.Load(ctx, bytes.NewReader(bad)), fault.Invalid)
	}
	if err := other.Load(ctx, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if err := other.Dump(ctx, &again); err != nil || !bytes.Equal(again.Bytes(), whole) {
		t.Errorf("the copy differs, %v", err)
	}
	wantKind(t, "second load", other.Load(ctx, bytes.NewReader(whole)), fault.Conflict)
}
