package badger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"catena/storage/disk/mounttest"
	"catena/storage/kv"
)

// TestTablesFail fails what Badger itself does with its tables, past the disk.FS that the store's own files go through: no
// error ends the process, commits go on or are refused, the store can be closed, and once the disk is well again whatever
// was acknowledged is there. CATENA_CORPUS=all fails every operation on every kind of file.
func TestTablesFail(t *testing.T) {
	usual := map[mounttest.Op]string{
		mounttest.Create: "*.mem", mounttest.Write: "*.sst", mounttest.Sync: "MANIFEST", mounttest.Resize: "*.mem",
	}
	all := os.Getenv("CATENA_CORPUS") == "all"
	for _, op := range []mounttest.Op{mounttest.Create, mounttest.Write, mounttest.Sync, mounttest.Resize, mounttest.Rename, mounttest.Remove} {
		for _, name := range []string{"*.sst", "*.mem", "MANIFEST"} {
			for _, f := range []mounttest.Fault{{N: 1}, {N: 2, Times: -1, Errno: unix.ENOSPC}, {N: 3}} {
				if !all && (usual[op] != name || f.N > 2) {
					continue
				}
				f.Op, f.Name = op, name
				t.Run(fmt.Sprintf("%s %s %d %d", op, name, f.N, f.Times), func(t *testing.T) {
					t.Parallel()
					failTables(t, f)
				})
			}
		}
	}
}

// TestTablesUnreadable has the disk fail to read tables that are mapped into memory: reads fail with an error that says so,
// and are served again once the disk is well.
func TestTablesUnreadable(t *testing.T) {
	d := mounttest.New(t)
	dir := filepath.Join(d.Mount, "store")
	s, err := Open(dir, Options{Log: quiet, MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	db := kv.New(s, kv.Options{Attempts: 1})
	for i := range 4 {
		if err := commitRows(db, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.(*store).flushTables(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(dir, Options{Log: quiet, MinFree: -1}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	tables, err := filepath.Glob(filepath.Join(dir, tablesDir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	for _, name := range tables { // the pages that the check of all tables has brought into memory
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
		_ = f.Close()
	}
	read := func() (rows int, err error) {
		err = kv.New(s, kv.Options{}).View(ctx, func(tx *kv.Tx) error {
			rows = 0
			for _, err := range tx.Scan(kv.Range{Start: []byte("0"), End: []byte("9")}) {
				if err != nil {
					return err
				}
				rows++
			}
			return nil
		})
		return rows, err
	}
	d.Set(mounttest.Fault{Op: mounttest.Read, Name: "*.sst", N: 1, Times: -1})
	if rows, err := read(); !errors.Is(err, ErrCorrupt) {
		t.Errorf("%d rows of tables that cannot be read: %v", rows, err)
	}
	d.Set()
	if rows, err := read(); rows != 4*rowsOfCommit || err != nil {
		t.Errorf("afterwards: %d rows, %v", rows, err)
	}
}

// rowsOfCommit is how many rows commitRows writes.
const rowsOfCommit = 1024

// commitRows commits some rows that begin with a number.
func commitRows(db *kv.DB, i int) error {
	return db.Update(ctx, func(tx *kv.Tx) error {
		for k := range rowsOfCommit {
			if err := tx.Set(fmt.Appendf(nil, "%04d/%04d", i, k), make([]byte, inlineSize)); err != nil {
				return err
			}
		}
		return nil
	})
}

func failTables(t *testing.T, f mounttest.Fault) {
	d := mounttest.New(t)
	dir := filepath.Join(d.Mount, "store")
	open := func(dir string) kv.Store {
		t.Helper()
		s, err := Open(dir, Options{Log: quiet, MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open(dir)
	d.Set(f)
	acked := 0
	for i := range 40 { // more than two memtables
		err := commitRows(kv.New(s, kv.Options{Attempts: 1}), i)
		if err != nil {
			break
		}
		acked++
	}
	if s, ok := s.(*store); ok {
		_ = s.flushTables()
	}
	hits := d.Hits()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
	case <-time.After(time.Second):
		d.Set() // what waits for the disk goes on
		select {
		case <-closed:
		case <-time.After(time.Minute):
			t.Fatal("the store cannot be closed")
		}
	}
	d.Stop()
	s, err := Open(filepath.Join(d.Root, "store"), Options{Log: quiet, MinFree: -1})
	if err != nil {
		t.Fatalf("after %d faults: opened again: %v", hits, err)
	}
	defer s.Close()
	if err := checkRows(s, acked); err != nil {
		t.Errorf("after %d faults and %d commits: %v", hits, acked, err)
	}
	t.Logf("%d faults, %d commits", hits, acked)
}

// checkRows looks for the rows of the first commits of commitRows.
func checkRows(s kv.Store, commits int) error {
	return kv.New(s, kv.Options{}).View(ctx, func(tx *kv.Tx) error {
		for i := range commits {
			n := 0
			for row, err := range tx.Scan(kv.Prefix(fmt.Appendf(nil, "%04d/", i))) {
				if err != nil {
					return err
				}
				if n++; len(row.Value) != inlineSize {
					return errors.New("a value is damaged")
				}
			}
			if n != rowsOfCommit {
				return fmt.Errorf("commit %d has %d rows", i, n)
			}
		}
		return nil
	})
}
