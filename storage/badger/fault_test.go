package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/storage/disk/disktest"
	"catena/storage/fault"
	"catena/storage/kv"
)

// unsynced are Badger's files that a loss of power takes: memtables, which it never syncs.
func unsynced(name string) bool { return strings.HasSuffix(name, ".mem") }

// workload commits until something fails, closes the store, and returns how many commits were acknowledged. Each is
// a small value and a large one.
func workload(t *testing.T, s kv.Store, from, n int) (acked int, err error) {
	t.Helper()
	d := kv.New(s, kv.Options{Attempts: 1})
	for i := from; i < from+n; i++ {
		err := d.Update(ctx, func(tx *kv.Tx) error {
			if err := tx.Set(fmt.Appendf(nil, "m/%04d", i), make([]byte, 4*inlineSize)); err != nil {
				return err
			}
			return tx.Set(fmt.Appendf(nil, "s/%04d", i), []byte("small"))
		})
		if err != nil {
			return acked, errors.Join(err, s.Close())
		}
		acked++
	}
	return acked, s.Close()
}

// kept returns how many commits of workload a store holds, and fails unless they are the first ones, each whole.
func kept(t *testing.T, s kv.Store) (n int) {
	t.Helper()
	if err := kv.New(s, kv.Options{}).View(ctx, func(tx *kv.Tx) error {
		for _, prefix := range []string{"m", "s"} {
			n = 0
			for row, err := range tx.Scan(kv.Range{Start: []byte(prefix + "/"), End: []byte(prefix + "0")}) {
				if err != nil {
					return err
				}
				if want := fmt.Sprintf("%s/%04d", prefix, n); string(row.Key) != want {
					t.Fatalf("%s instead of %s", row.Key, want)
				}
				n++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEveryOperationFails fails the n-th operation on a file, for each n, in every way, and then takes the power away:
// what was acknowledged is there, in whole transactions, and every error is a clean one.
func TestEveryOperationFails(t *testing.T) {
	const commits = 6
	faults := map[string]disktest.Fault{
		"error": {}, "full": {Err: disktest.ErrFull}, "short": {Short: true}, "for good": {Times: -1}, "crash": {Crash: true},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < 400; n += step(n) {
				f.N = n
				dir, to := filepath.Join(t.TempDir(), "store"), t.TempDir()
				files := disktest.New(dir, uint64(n), disktest.Plan{Faults: []disktest.Fault{f}, Trace: func(k int, op disktest.Op, name string) {
					if k > n-12 && k < n+3 && n > 60 {
						t.Logf("n %d: op %d %d %s", n, k, op, filepath.Base(name))
					}
				}})
				acked, unsure := 0, 1
				s, err := Open(dir, Options{Log: quiet, MinFree: -1, FS: files})
				if err == nil {
					acked, err = workload(t, s, 0, commits)
				}
				if err != nil && errors.Is(err, ErrCorrupt) {
					t.Errorf("operation %d: %v", n, err)
				}
				if err := files.Crash(to, func(name string) bool { return !unsynced(name) }); err != nil {
					t.Fatal(err)
				}
				again, e := Open(to, Options{Log: quiet, MinFree: -1})
				if e != nil {
					t.Errorf("operation %d failed with %v: opened again: %v", n, err, e)
					continue
				}
				if got := kept(t, again); got < acked || got > acked+unsure {
					t.Errorf("operation %d failed with %v: %d commits were acknowledged, %d are there", n, err, acked, got)
				}
				_ = again.Close()
				if files.Ops() < n && err == nil {
					return // there are fewer operations
				}
			}
		})
	}
}

// step thins out the operations that are failed: each of the first dozen, in which a store is made, then ever fewer, or
// each of the first two dozen with CATENA_CORPUS=all.
func step(n int) int {
	if os.Getenv("CATENA_CORPUS") == "all" {
		return 1 + n/24
	}
	return 1 + n/12
}

// TestFailedSync fails a sync or a write of each kind of file once: nothing is acknowledged from then on, though
// everything would succeed, and reads go on.
func TestFailedSync(t *testing.T) {
	for name, f := range map[string]disktest.Fault{
		"log":    {Op: disktest.Write, Name: "*.log*"},
		"values": {Op: disktest.Write, Name: "*.values"},
		"state":  {Op: disktest.Sync, Name: stateName + tempSuffix},
		"folder": {Op: disktest.SyncDir, Name: logDir},
	} {
		dir := filepath.Join(t.TempDir(), "store")
		files := disktest.New(dir, 1, disktest.Plan{})
		opened, err := Open(dir, Options{Log: quiet, MinFree: -1, FS: files})
		if err != nil {
			t.Fatal(err)
		}
		s, d := opened.(*store), kv.New(opened, kv.Options{Attempts: 1})
		put := func() error {
			return d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("m/0000"), make([]byte, 4*inlineSize)) })
		}
		files.Set(disktest.Plan{Faults: []disktest.Fault{f}})
		err = put()
		s.pending.hurry()
		if name == "state" {
			s.checkpointFailed(s.state.write(files, dir))
		}
		for end := time.Now().Add(5 * time.Second); d.Writable() == nil && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		files.Set(disktest.Plan{})
		if again := put(); !fault.Is(again, fault.Unavailable) {
			t.Errorf("%s: %v, then %v", name, err, again)
		}
		if d.Writable() == nil {
			t.Errorf("%s: the store is writable", name)
		}
		if err := d.View(ctx, func(tx *kv.Tx) error { _, err := tx.Get([]byte("m/0000")); return err }); err != nil {
			t.Errorf("%s: read: %v", name, err)
		}
		_ = s.Close()
	}
}

// TestFullAtStart opens a store on a full disk: it says what is missing and changes nothing.
func TestFullAtStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir, Strict)
	fill(t, kv.New(s, kv.Options{}), 0, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := fingerprint(t, dir)
	files := disktest.New(dir, 1, disktest.Plan{})
	files.SetRoom(3 << 20)
	_, err := Open(dir, Options{Log: quiet, FS: files})
	if fault.CodeOf(err) != fault.CodeDiskFull || !strings.Contains(err.Error(), dir+": 3 MiB of disk space free, 64 MiB required") {
		t.Errorf("%v", err)
	}
	if fingerprint(t, dir) != before {
		t.Error("the directory was changed")
	}
}
