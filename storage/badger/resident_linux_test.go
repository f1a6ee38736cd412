package badger

import (
	"bytes"
	"fmt"
	"testing"

	"catena/storage/kv"
)

// TestRelease gives back the pages of tables while they are read.
func TestRelease(t *testing.T) {
	dir := t.TempDir()
	fillRows(t, dir)
	s := open(t, dir, Relaxed)
	defer s.Close()
	d := kv.New(s, kv.Options{})
	read := func() {
		n := 0
		if err := d.View(ctx, func(tx *kv.Tx) error {
			for row, err := range tx.Scan(kv.Range{}) {
				if err != nil {
					return err
				}
				if !bytes.Equal(row.Key, rowKey(n)) || !bytes.Equal(row.Value, rowValue(n)) {
					t.Fatalf("row %d is %s", n, row.Key)
				}
				n++
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if n != releaseRows {
			t.Errorf("%d rows", n)
		}
	}
	read()
	before, err := residentFiles()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.release(0); err != nil {
		t.Fatal(err)
	}
	after, err := residentFiles()
	if err != nil || after > before-10<<20 {
		t.Errorf("%d MiB of files resident, %d before: %v", after>>20, before>>20, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 20 {
			if err := s.release(0); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 3 {
		read()
	}
	<-done
}

const releaseRows = 40_000

func rowKey(i int) []byte   { return fmt.Appendf(nil, "row/%06d", i) }
func rowValue(i int) []byte { return bytes.Repeat(rowKey(i), 46) }

// fillRows makes a store whose rows are all in tables.
func fillRows(t *testing.T, dir string) {
	t.Helper()
	d := kv.New(open(t, dir, Relaxed), kv.Options{})
	for i := 0; i < releaseRows; {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for end := i + 2000; i < end; i++ {
				if err := tx.Set(rowKey(i), rowValue(i)); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}
