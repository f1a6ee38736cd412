package badger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"golang.org/x/sys/unix"

	"catena/storage/disk/mounttest"
	"catena/storage/kv"
)

// TestUnflushed has a disk on which tables can never be completed: Badger tries without end, but the store refuses writes,
// goes on serving reads, can be closed, and has whatever was acknowledged once the disk is well again.
func TestUnflushed(t *testing.T) {
	for name, errno := range map[string]unix.Errno{"broken": unix.EIO, "quota": unix.EDQUOT, "no space": unix.ENOSPC} {
		if name == "quota" && os.Getenv("CATENA_CORPUS") != "all" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := mounttest.New(t)
			opened, err := Open(filepath.Join(d.Mount, "store"), Options{Log: quiet, MinFree: -1})
			if err != nil {
				t.Fatal(err)
			}
			s := opened.(*store)
			d.Set(mounttest.Fault{Op: mounttest.Sync, Name: "MANIFEST", N: 1, Times: -1, Errno: errno})
			acked := 0
			for err = nil; err == nil && acked < 1000; acked++ {
				err = commitRows(kv.New(s, kv.Options{Attempts: 1}), acked)
				time.Sleep(time.Millisecond * time.Duration(acked/4)) // the second of Badger's tries brings no hundred more
			}
			acked--
			if !errors.Is(err, errno) || !s.unflushed.gaveUp() {
				t.Fatalf("after %d commits: %v", acked, err)
			}
			if err := checkRows(s, acked); err != nil {
				t.Error("while the disk fails:", err)
			}
			if err := s.Close(); !errors.Is(err, errno) {
				t.Error("closed:", err)
			}
			if _, err := Open(filepath.Join(d.Mount, "store"), Options{Log: quiet}); !strings.Contains(fmt.Sprint(err), "in use") {
				t.Error("while Badger still tries:", err)
			}
			left := filepath.Join(t.TempDir(), "store")
			copyTried(t, filepath.Join(d.Root, "store"), left)
			d.Set()
			<-s.closing
			again, err := Open(left, Options{Log: quiet, MinFree: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			if err := checkRows(again, acked); err != nil {
				t.Error(err)
			}
			t.Logf("%d commits", acked)
		})
	}
}

// copyTried copies a store in which Badger goes on making and removing tables: the manifest first, for it names complete tables,
// while one that is named later may have been copied when it was being made.
func copyTried(t *testing.T, from, to string) {
	t.Helper()
	name := filepath.Join(tablesDir, badger.ManifestFilename)
	manifest, err := os.ReadFile(filepath.Join(from, name))
	if err != nil {
		t.Fatal(err)
	}
	copyDir(t, from, to, func(string) bool { return true })
	if err := os.WriteFile(filepath.Join(to, name), manifest, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestBehind commits more than Badger takes over: a commit waits, for as long as its call has time, and has then done nothing.
func TestBehind(t *testing.T) {
	s := open(t, t.TempDir(), Strict)
	db := kv.New(s, kv.Options{Attempts: 1})
	n := 0
	put := func(ctx context.Context) error {
		return db.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte{1, byte(n)}, make([]byte, 1<<19)) })
	}
	s.applying.Lock()
	for s.pending.behind() == nil {
		if err := put(ctx); err != nil {
			t.Fatal(err)
		}
		n++
	}
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	if err := put(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after %d commits: %v", n, err)
	}
	waits := make(chan error)
	go func() { waits <- put(ctx) }()
	s.applying.Unlock()
	if err := <-waits; err != nil {
		t.Error(err)
	}
	rows := 0
	if err := db.View(ctx, func(tx *kv.Tx) error {
		for _, err := range tx.Scan(kv.Prefix([]byte{1})) {
			if rows++; err != nil {
				return err
			}
		}
		return nil
	}); rows != n+1 || err != nil {
		t.Errorf("%d rows instead of %d: %v", rows, n+1, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
