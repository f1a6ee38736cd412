package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"catena/storage/disk"
	"catena/storage/kv"
)

// fillBoth commits n transactions of small values and n of large ones.
func fillBoth(t *testing.T, s *store, from, n int) {
	t.Helper()
	d := kv.New(s, kv.Options{})
	fill(t, d, from, n)
	for i := from; i < from+n; i++ {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			return tx.Set(fmt.Appendf(nil, "m/%04d", i), make([]byte, 4*inlineSize))
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// filledBoth returns how many transactions of fillBoth there are.
func filledBoth(t *testing.T, s *store) int {
	t.Helper()
	n, large := filled(t, s), 0
	if err := kv.New(s, kv.Options{}).View(ctx, func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Range{Start: []byte("m/"), End: []byte("m0")}) {
			if err != nil {
				return err
			}
			if len(row.Value) == 4*inlineSize {
				large++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if n != large {
		t.Fatalf("%d transactions of small values, %d of large ones", n, large)
	}
	return n
}

// copies are directories of one store at different times: closed and crashed, older and newer.
func copies(t *testing.T) (older, newer map[string]string, transactions int) {
	t.Helper()
	dir := t.TempDir()
	snapshot := func() string {
		to := t.TempDir()
		copyDir(t, dir, to, func(string) bool { return true })
		return to
	}
	older, newer = map[string]string{}, map[string]string{}
	total := 0
	round := func(into map[string]string) {
		s := open(t, dir, Strict)
		fillBoth(t, s, total, 20)
		total += 20
		for s.pending.waits() {
			s.pending.hurry()
		}
		into["crashed"] = snapshot()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		into["closed"] = snapshot()
	}
	round(older)
	round(map[string]string{})
	round(newer)
	return older, newer, total
}

// units are the parts of a store's directory that somebody might take from an older copy.
var units = []string{stateName, "tables/MANIFEST", "tables/KEYREGISTRY", logDir, valuesDir, tablesDir}

// unitOf is the position of the unit that a file belongs to, -1 if it belongs to none.
func unitOf(name string) int {
	if i := slices.Index(units[:3], name); i >= 0 {
		return i
	}
	folder, _, _ := strings.Cut(name, "/")
	return slices.Index(units, folder)
}

// mixed is a directory with some of its units from an older one. Those replace what the newer one has in them, or
// are put beside it.
func mixed(t *testing.T, older, newer string, chosen int, beside bool) string {
	t.Helper()
	dir := t.TempDir()
	old := func(name string) bool { u := unitOf(name); return u >= 0 && chosen>>u&1 == 1 }
	copyDir(t, newer, dir, func(name string) bool { return beside || !old(name) })
	copyDir(t, older, dir, old)
	return dir
}

// TestOlderFiles opens directories that some files from an older copy were put into, in every third combination or, with
// CATENA_CORPUS=all, in every one: the open is refused and changes nothing, or everything that was acknowledged is there.
func TestOlderFiles(t *testing.T) {
	older, newer, want := copies(t)
	opened, step := 0, 7
	if os.Getenv("CATENA_CORPUS") == "all" {
		step = 1
	}
	for _, from := range []string{"crashed", "closed"} {
		for _, into := range []string{"crashed", "closed"} {
			for chosen := 0; chosen < 1<<len(units)-1; chosen += step {
				if chosen|1<<2 == 1<<len(units)-1 {
					continue // the registry never changes: this is the older copy itself
				}
				for _, beside := range []bool{false, true}[:1+chosen%2] {
					name := fmt.Sprintf("%06b of %s into %s, beside %v", chosen, from, into, beside)
					dir := mixed(t, older[from], newer[into], chosen, beside)
					before := fingerprint(t, dir)
					s, err := Open(dir, Options{Log: quiet, MinFree: -1})
					if err != nil {
						if !errors.Is(err, ErrCorrupt) {
							t.Errorf("%s: %v", name, err)
						}
						if fingerprint(t, dir) != before {
							t.Errorf("%s: the refused directory was changed: %v", name, err)
						}
						continue
					}
					opened++
					if got := filledBoth(t, s.(*store)); got != want {
						t.Errorf("%s: opened with %d transactions of %d", name, got, want)
					}
					_ = s.Close()
					_ = os.RemoveAll(dir)
				}
			}
		}
	}
	if opened < 8/step {
		t.Errorf("only %d of the directories were opened", opened)
	}
}

// TestEpochInterrupted stops a store in each operation of opening and of closing: it opens again.
func TestEpochInterrupted(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	fill(t, kv.New(s, kv.Options{}), 0, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	st, err := readState(disk.OS, dir)
	if err != nil || st.Marked != st.Epoch || !st.Clean {
		t.Fatalf("%+v %v", st, err)
	}
	for i := range marked { // the folders behind it keep the epoch before
		if err := os.Rename(filepath.Join(dir, marked[i], fmt.Sprint(epochPrefix, st.Epoch)), filepath.Join(dir, marked[i], fmt.Sprint(epochPrefix, st.Epoch+1))); err != nil {
			t.Fatal(err)
		}
		to := t.TempDir()
		copyDir(t, dir, to, func(string) bool { return true })
		next := *st
		next.Epoch++
		if err := next.write(disk.OS, to); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			s := open(t, to, Strict)
			if got := filled(t, s); got != 3 {
				t.Errorf("%d transactions", got)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := Open(dir, Options{Log: quiet, MinFree: -1}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("folders of a later epoch: %v", err)
	}
}
