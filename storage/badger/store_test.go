package badger

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

func sorted(s []string) []string { slices.Sort(s); return s }

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	total := 0
	for round := range 4 {
		s := open(t, dir, Strict)
		d := kv.New(s, kv.Options{})
		if got := filled(t, s); got != total {
			t.Fatalf("round %d: %d transactions, want %d", round, got, total)
		}
		n, err := d.Next(ctx, "ids")
		if err != nil || n != int64(round+1) {
			t.Errorf("round %d: next is %d, %v", round, n, err)
		}
		fill(t, d, total, 10)
		total += 10
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if err := d.View(ctx, func(*kv.Tx) error { return nil }); !fault.Is(err, fault.Unavailable) {
			t.Errorf("view after close: %v", err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "log/[0-9]*")); len(left) > 0 {
			t.Errorf("round %d: the log of a closed store holds %v", round, left)
		}
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	if _, err := Open(dir, Options{Log: quiet}); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("second open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, Strict).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestKeptFree(t *testing.T) {
	for disk, want := range map[uint64]uint64{24 << 20: 256 << 20, 4 << 30: 4 << 30 / 10, 1 << 40: 1 << 30} {
		if got := KeptFree(disk); got != want {
			t.Errorf("of %d bytes %d are kept free, want %d", disk, got, want)
		}
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	fill(t, kv.New(s, kv.Options{}), 0, 3)
	_ = s.Close()
	full, err := Open(dir, Options{Log: quiet, MinFree: 1 << 60})
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	err = kv.New(full, kv.Options{}).Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), nil) })
	if fault.CodeOf(err) != fault.CodeDiskFull || !strings.Contains(err.Error(), "are reserved") {
		t.Errorf("write: %v", err)
	}
	if err := kv.New(full, kv.Options{}).Writable(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a full disk is writable: %v", err)
	}
	if got := filled(t, full); got != 3 {
		t.Errorf("%d transactions, want 3", got)
	}
}

// TestLogFailure takes the log away under a running store: commits are refused, reads
// go on, and what was acknowledged is there after a restart.
func TestLogFailure(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	d := kv.New(s, kv.Options{})
	fill(t, d, 0, 5)
	if err := d.Writable(); err != nil {
		t.Errorf("before the failure: %v", err)
	}
	_ = s.redo.file.Close()
	for range 2 {
		err := d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("a"), nil) })
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("write: %v", err)
		}
	}
	if err := d.Writable(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without its log the store is writable: %v", err)
	}
	if got := filled(t, s); got != 5 {
		t.Errorf("%d transactions, want 5", got)
	}
	_ = s.Close()
	s = open(t, dir, Strict)
	if got := filled(t, s); got != 5 {
		t.Errorf("reopened: %d transactions, want 5", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpoint writes more than fits in memory: the log shrinks behind the writers,
// deleted keys stay deleted, and a kill then loses nothing.
func TestCheckpoint(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	d := kv.New(s, kv.Options{})
	const keys, rounds = 2000, 40
	write := func(round int) {
		err := d.Update(ctx, func(tx *kv.Tx) error {
			for k := range keys {
				key := fmt.Appendf(nil, "%05d", k)
				if k%3 == round%3 {
					if err := tx.Delete(key); err != nil {
						return err
					}
				} else if err := tx.Set(key, bytes.Repeat([]byte{byte(round)}, 1000)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for round := range rounds {
		write(round)
	}
	deadline := time.Now().Add(time.Minute)
	for logSize(t, dir) > 40<<20 && time.Now().Before(deadline) {
		time.Sleep(50 * time.Millisecond)
	}
	if size := logSize(t, dir); size > 40<<20 {
		t.Errorf("the log has %d MiB", size>>20)
	}
	to := copyLive(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, to} {
		s := open(t, dir, Strict)
		checkRounds(t, kv.New(s, kv.Options{}), keys, rounds-1)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// checkRounds checks that exactly what the last round left is there.
func checkRounds(t *testing.T, d *kv.DB, keys, last int) {
	t.Helper()
	n := 0
	err := d.View(ctx, func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			k, err := strconv.Atoi(string(row.Key))
			if err != nil || k%3 == last%3 || int(row.Value[0]) != last {
				t.Fatalf("key %s holds the value of round %d", row.Key, row.Value[0])
			}
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := keys - (keys-last%3+2)/3; n != want {
		t.Errorf("%d keys, want %d", n, want)
	}
}

// copyLive copies the directory of an open store, but for Badger's unsynced files, at
// a moment when nothing in it changes.
func copyLive(t *testing.T, s *store) string {
	t.Helper()
	s.pause.Lock()
	defer s.pause.Unlock()
	still := func() string {
		names, _ := filepath.Glob(filepath.Join(s.tables(), "*.sst"))
		b, err := os.ReadFile(filepath.Join(s.tables(), "MANIFEST"))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(names, len(b))
	}
	for range 50 {
		to, before := t.TempDir(), still()
		time.Sleep(20 * time.Millisecond)
		if still() != before {
			continue
		}
		copyDir(t, s.dir, to, func(name string) bool { return !strings.HasSuffix(name, ".mem") })
		if still() == before {
			return to
		}
	}
	t.Fatal("the tables never stand still")
	return ""
}

func logSize(t *testing.T, dir string) (n int64) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "log/*"+logSuffix))
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil {
			n += info.Size()
		}
	}
	return n
}
