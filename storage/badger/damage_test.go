package badger

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/disk"
	"catena/storage/disk/disktest"
	"catena/storage/fault"
	"catena/storage/kv"
)

var ctx = context.Background()

// fill commits n transactions of three keys, one after the other.
func fill(t *testing.T, d *kv.DB, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		err := d.Update(ctx, func(tx *kv.Tx) error {
			for k := range 3 {
				if err := tx.Set(fmt.Appendf(nil, "%04d/%d", i, k), bytes.Repeat([]byte{byte('a' + i%26)}, 100+i)); err != nil {
					return err
				}
			}
			return tx.Set([]byte("latest"), fmt.Appendf(nil, "%d", i))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// filled returns how many transactions of fill there are, and fails unless they are the
// first ones, each whole.
func filled(t *testing.T, s kv.Store) int {
	t.Helper()
	d := kv.New(s, kv.Options{})
	var keys []string
	latest := ""
	err := d.View(ctx, func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Range{Start: []byte("0"), End: []byte("l")}) {
			if err != nil {
				return err
			}
			keys = append(keys, string(row.Key))
		}
		v, err := tx.Get([]byte("latest"))
		latest = string(v)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	n := len(keys) / 3
	for i, k := range keys {
		if want := fmt.Sprintf("%04d/%d", i/3, i%3); k != want {
			t.Fatalf("key %d is %s, want %s", i, k, want)
		}
	}
	if want := fmt.Sprint(n - 1); len(keys)%3 != 0 || n > 0 && latest != want {
		t.Fatalf("%d keys, latest is %s", len(keys), latest)
	}
	return n
}

// killed is a store's directory as a kill would leave it after n transactions. With
// power, Badger has taken over all of it and its unsynced files survive too, as they do
// unless the machine stops.
func killed(t *testing.T, n int, d Durability, power bool) string {
	t.Helper()
	dir, to := t.TempDir(), t.TempDir()
	s := open(t, dir, d)
	fill(t, kv.New(s, kv.Options{}), 0, n)
	for power && s.pending.waits() {
		s.pending.hurry()
		time.Sleep(time.Millisecond)
	}
	copyDir(t, dir, to, func(name string) bool { return power || !strings.HasSuffix(name, ".mem") })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return to
}

// waits reports whether Badger has something to take over.
func (p *pending) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs) > 0
}

// copyDir copies files; what is only zeros becomes a hole.
func copyDir(t *testing.T, from, to string, keep func(string) bool) {
	t.Helper()
	eachFile(t, from, func(name string, f *os.File) error {
		if !keep(name) {
			return nil
		}
		path := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		return disktest.CopySparse(path, f)
	})
}

// eachFile reads the files below a directory that are still there.
func eachFile(t *testing.T, dir string, read func(name string, f *os.File) error) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed since it was listed
		}
		if err != nil {
			return err
		}
		return errors.Join(read(name, f), f.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fingerprint tells any change of a directory but of its lock files.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	eachFile(t, dir, func(name string, f *os.File) error {
		if filepath.Base(name) == lockName {
			return nil
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		sum := sha256.New()
		err = disktest.Pieces(f, func(at int64, b []byte) error {
			_, err := fmt.Fprintf(sum, "%d %s", at, b)
			return err
		})
		out = append(out, fmt.Sprintf("%s %d %x", name, info.Size(), sum.Sum(nil)))
		return err
	})
	return strings.Join(sorted(out), "\n")
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: %v %v", pattern, paths, err)
	}
	return paths
}

func edit(t *testing.T, path string, fn func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, fn(b), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// frames are the places of a segment's frames, and its end.
func frames(t *testing.T, path string, store id) (at []int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	i := segmentHeader
	for {
		at = append(at, i)
		var f frame
		if !f.parse(b[i:], store) {
			return at
		}
		i += frameHeader + f.length
	}
}

// TestTornTail cuts the log at many places: what was whole before them is there.
func TestTornTail(t *testing.T) {
	const n = 40
	base := killed(t, n, Strict, false)
	st, err := readState(disk.OS, base)
	if err != nil {
		t.Fatal(err)
	}
	at := frames(t, glob(t, base, "log/*.log")[0], st.id())
	if len(at) != n+1 {
		t.Fatalf("%d frames, want %d", len(at)-1, n)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for try := range 60 {
		cut := at[0] + r.IntN(at[n]-at[0]+1)
		if try < 10 {
			cut = at[r.IntN(n+1)] + r.IntN(3) - 1
		}
		dir := t.TempDir()
		copyDir(t, base, dir, func(string) bool { return true })
		edit(t, glob(t, dir, "log/*.log")[0], func(b []byte) []byte {
			if try%2 == 0 {
				return b[:cut]
			}
			cut = cut / sector * sector // as a disk does it
			clear(b[cut:])
			return b
		})
		want := 0 // frames
		for want < n && at[want+1] <= cut {
			want++
		}
		s := open(t, dir, Strict)
		if got := filled(t, s); got != want {
			t.Errorf("cut at %d: %d transactions, want %d", cut, got, want)
		}
		what, now := s.Dropped()
		if torn := cut > at[want]; now != torn || torn != strings.Contains(what, "not completely written") {
			t.Errorf("cut at %d, frame at %d: dropped %q, %v", cut, at[want], what, now)
		}
		fill(t, kv.New(s, kv.Options{}), want, 2)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, dir, Strict)
		if got := filled(t, s); got != want+2 {
			t.Errorf("cut at %d, reopened: %d transactions, want %d", cut, got, want+2)
		}
		_ = s.Close()
	}
}

// TestRefused damages files in every way: an open is refused and changes nothing.
func TestRefused(t *testing.T) {
	crashed := killed(t, 40, Strict, false)
	whole := killed(t, 40, Strict, true)
	st, err := readState(disk.OS, crashed)
	if err != nil {
		t.Fatal(err)
	}
	at := frames(t, glob(t, crashed, "log/*.log")[0], st.id())
	closed := t.TempDir()
	s := open(t, closed, Strict)
	fill(t, kv.New(s, kv.Options{}), 0, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	large := t.TempDir()
	s = open(t, large, Strict)
	fill(t, kv.New(s, kv.Options{}), inlineSize, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	flip := func(from, to int) func([]byte) []byte {
		return func(b []byte) []byte {
			b[from+r.IntN(cmp.Or(to, len(b))-from)] ^= 1 << r.IntN(8)
			return b
		}
	}
	cut := func(b []byte) []byte { return b[:r.IntN(len(b))] }
	empty := func([]byte) []byte { return nil }
	for _, tt := range []struct {
		name, base, file string
		damage           func([]byte) []byte // nil deletes
		times            int
		opened           bool // only Badger's own files tell
	}{
		{"log, flipped", crashed, "log/*.log", flip(0, at[39]), 60, false},
		{"log, last record flipped", whole, "log/*.log", flip(at[39], at[40]), 20, false},
		{"log, last record flipped, tables without it", crashed, "log/*.log", flip(at[39], at[40]), 60, false},
		{"log, last record cut", whole, "log/*.log", func(b []byte) []byte { return b[:at[39]+5] }, 1, true},
		{"log, deleted", whole, "log/*.log", nil, 1, true},
		{"state, flipped", closed, stateName, flip(0, 0), 10, false},
		{"state, cut", closed, stateName, cut, 3, false},
		{"state, deleted", closed, stateName, nil, 1, false},
		{"state, deleted after a crash", crashed, stateName, nil, 1, false},
		{"manifest, flipped", closed, "tables/MANIFEST", flip(0, 0), 10, false},
		{"manifest, cut", closed, "tables/MANIFEST", cut, 10, false},
		{"manifest, emptied", closed, "tables/MANIFEST", empty, 1, false},
		{"manifest, deleted", closed, "tables/MANIFEST", nil, 1, false},
		{"table, flipped", closed, "tables/*.sst", flip(0, 0), 60, false},
		{"table, cut", closed, "tables/*.sst", cut, 10, false},
		{"table, emptied", closed, "tables/*.sst", empty, 1, false},
		{"table, deleted", closed, "tables/*.sst", nil, 1, false},
		{"values, flipped", large, "values/*.values", flip(0, 0), 60, false},
		{"values, cut", large, "values/*.values", cut, 10, false},
		{"values, emptied", large, "values/*.values", empty, 1, false},
		{"values, deleted", large, "values/*.values", nil, 1, false},
	} {
		for range tt.times {
			dir := t.TempDir()
			copyDir(t, tt.base, dir, func(string) bool { return true })
			path := glob(t, dir, tt.file)[0]
			if tt.damage != nil {
				edit(t, path, tt.damage)
			} else if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			refused(t, tt.name, dir, !tt.opened)
		}
	}
}

// refused opens a damaged directory, which must fail, and if untouched change nothing.
func refused(t *testing.T, name, dir string, untouched bool) {
	t.Helper()
	before := fingerprint(t, dir)
	s, err := Open(dir, Options{Log: quiet, MinFree: -1})
	if err == nil {
		t.Errorf("%s: opened with %d transactions", name, filled(t, s))
		_ = s.Close()
		return
	}
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("%s: %v", name, err)
	}
	if untouched && fingerprint(t, dir) != before {
		t.Errorf("%s: the refused directory was changed", name)
	}
}

// TestMemtableDamage damages Badger's own unsynced log, which it cuts short without a
// word: the redo log makes up for it.
func TestMemtableDamage(t *testing.T) {
	base := killed(t, 60, Strict, true)
	r := rand.New(rand.NewPCG(8, 8))
	for range 10 {
		dir := t.TempDir()
		copyDir(t, base, dir, func(string) bool { return true })
		edit(t, glob(t, dir, "tables/*.mem")[0], func(b []byte) []byte {
			b[r.IntN(20_000)] ^= 1 << r.IntN(8)
			return b
		})
		s := open(t, dir, Strict)
		if got := filled(t, s); got != 60 {
			t.Errorf("%d transactions, want 60", got)
		}
		_ = s.Close()
	}
}

// TestRelaxedPowerLoss cuts a relaxed log below what Badger has on disk: the store opens
// at a whole earlier transaction.
func TestRelaxedPowerLoss(t *testing.T) {
	base := killed(t, 40, Relaxed, true)
	st, err := readState(disk.OS, base)
	if err != nil {
		t.Fatal(err)
	}
	at := frames(t, glob(t, base, "log/*.log")[0], st.id())
	for _, keep := range []int{0, 1, 17, 39} {
		dir := t.TempDir()
		copyDir(t, base, dir, func(string) bool { return true })
		edit(t, glob(t, dir, "log/*.log")[0], func(b []byte) []byte { clear(b[at[keep]:]); return b })
		for range 3 {
			s := open(t, dir, Relaxed)
			got := filled(t, s)
			if got != keep {
				t.Errorf("%d transactions, want %d", got, keep)
			}
			fill(t, kv.New(s, kv.Options{}), got, 1)
			keep++
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestDamagedValue damages a table under an open store: the value is refused when read.
func TestDamagedValue(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	fill(t, kv.New(s, kv.Options{}), 0, 200)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, Strict)
	defer s.Close()
	path := glob(t, dir, "tables/*.sst")[0]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	value := bytes.Repeat([]byte{byte('a' + 77%26)}, 177)
	i := bytes.Index(b, value)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil || i < 0 {
		t.Fatal(i, err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("!"), int64(i+50)); err != nil {
		t.Fatal(err)
	}
	d := kv.New(s, kv.Options{})
	err = d.View(ctx, func(tx *kv.Tx) error {
		for k := range 3 {
			if _, err := tx.Get(fmt.Appendf(nil, "0077/%d", k)); err != nil {
				return err
			}
		}
		return nil
	})
	if !errors.Is(err, kv.ErrDamaged) || fault.Of(err) != fault.Internal {
		t.Errorf("get: %v", err)
	}
	if _, err := d.Verify(ctx, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
}
