package badger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"catena/storage/kv"
)

// sizeOf is the size of all files below a folder.
func sizeOf(t *testing.T, dir string) (n int64) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCompact gives back what overwritten and removed values take, large and small, and changes nothing else:
// what is read, also by somebody who began before, and what is read from the closed files.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	s.values.Smallest = 200 << 10
	d := kv.New(s, kv.Options{})
	model := map[string][]byte{}
	for round := range 6 {
		for i := range 40 { // a third of each file stays of use: too much to be emptied as commits go on
			key, size := fmt.Sprint("key", i), 20_000
			if i%3 == 0 {
				size = 300
			}
			if round > 0 && i%3 == 2 {
				continue
			}
			if err := d.Update(ctx, func(tx *kv.Tx) error {
				model[key] = bytes.Repeat([]byte{byte(round)}, size)
				return tx.Set([]byte(key), model[key])
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	before, err := s.Begin(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Update(ctx, func(tx *kv.Tx) error {
		delete(model, "key1")
		return tx.Delete([]byte("key1"))
	}); err != nil {
		t.Fatal(err)
	}
	s.pending.hurry()
	for range 2 {
		if err := d.Compact(ctx); err != nil {
			t.Fatal(err)
		}
	}
	checkRead(t, 0, d, model)
	if v, err := before.Get([]byte("key1")); err != nil || len(v) < 20_000 {
		t.Errorf("who began before reads %d bytes, %v", len(v), err)
	}
	before.Discard()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	var live int64
	for key, value := range model {
		if len(value) > inlineSize {
			live += int64(len(key) + len(value))
		}
	}
	if got := sizeOf(t, filepath.Join(dir, valuesDir)); got > live+live/10 {
		t.Errorf("%d bytes of values, %d are of use", got, live)
	}
	s = open(t, dir, Strict)
	d = kv.New(s, kv.Options{})
	checkRead(t, 1, d, model)
	if _, err := d.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	files := len(s.values.List())
	if err := d.Compact(ctx); err != nil {
		t.Error(err)
	}
	if n := d.Reclaimable(); n > live/20 {
		t.Errorf("%d bytes could be given back", n)
	}
	if n := len(s.values.List()); n > files+1 {
		t.Errorf("%d files of values, %d before", n, files)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if err := d.Compact(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Compact(ctx); err == nil {
		t.Error("a closed store is compacted")
	}
}

// TestCompactNothing compacts a store that holds nothing.
func TestCompactNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, Strict)
	if err := s.Compact(ctx); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(filepath.Join(dir, valuesDir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range left {
		if !strings.HasPrefix(e.Name(), epochPrefix) {
			t.Errorf("left: %s", e.Name())
		}
	}
}
