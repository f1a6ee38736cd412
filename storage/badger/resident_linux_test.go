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
	d := kv.New(open(t, dir, Relaxed), kv.Options{})
	const rows = 20_000
	key := func(i int) []byte { return fmt.Appendf(nil, "row/%06d", i) }
	value := func(i int) []byte { return bytes.Repeat(key(i), 100) }
	for i := 0; i < rows; {
		if err := d.Update(ctx, func(tx *kv.Tx) error {
			for end := i + 2000; i < end; i++ {
				if err := tx.Set(key(i), value(i)); err != nil {
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
	s := open(t, dir, Relaxed)
	defer s.Close()
	d = kv.New(s, kv.Options{})
	read := func() {
		n := 0
		if err := d.View(ctx, func(tx *kv.Tx) error {
			for row, err := range tx.Scan(kv.Range{}) {
				if err != nil {
					return err
				}
				if i := n; !bytes.Equal(row.Key, key(i)) || !bytes.Equal(row.Value, value(i)) {
					t.Fatalf("row %d is %s", i, row.Key)
				}
				n++
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		if n != rows {
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
