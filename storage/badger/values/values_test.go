package values

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"catena/storage/disk"
)

var store = [16]byte{1, 2, 3}

func open(t *testing.T, dir string, known ...File) *Files {
	t.Helper()
	f, err := Open(disk.OS, dir, store, known)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

// written adds n values, each in a flush of its own, and returns where they are.
func written(t *testing.T, f *Files, from, n int) (places []Pointer) {
	t.Helper()
	for i := from; i < from+n; i++ {
		p, err := f.Add(key(i), value(i))
		if err == nil {
			err = f.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
	}
	return places
}

func key(i int) []byte   { return fmt.Appendf(nil, "key/%d", i) }
func value(i int) []byte { return bytes.Repeat(key(i), 1+i*i%300) }

func checkValues(t *testing.T, f *Files, places []Pointer) {
	t.Helper()
	for i, p := range places {
		b := make([]byte, p.Size)
		if err := f.Read(p, key(i), b); err != nil || !bytes.Equal(b, value(i)) {
			t.Fatalf("value %d: %d bytes, %v", i, len(b), err)
		}
	}
}

// all returns the keys of a file in order.
func all(t *testing.T, f *Files, number uint32) (keys []string) {
	t.Helper()
	for at := int64(0); !f.Ends(number, at); {
		var err error
		if at, err = f.Walk(number, at, at+700, func(e Entry) error {
			keys = append(keys, string(e.Key))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return keys
}

func TestReopened(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.Smallest = 20_000
	places := written(t, f, 0, 300)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	known := f.List()
	if len(known) < 5 {
		t.Fatalf("%d files", len(known))
	}
	f.Close()
	f = open(t, dir, known...)
	checkValues(t, f, places)
	last := known[len(known)-1].Number
	places = append(places, written(t, f, 300, 5)...)
	checkValues(t, f, places)
	if got := places[304].File; got != last {
		t.Errorf("file %d is written on, not %d", got, last)
	}
	f.Close() // without a sync, as when killed
	f = open(t, dir, known...)
	checkValues(t, f, places)
	places = append(places, written(t, f, 305, 1)...)
	if got := places[305].File; got != last+1 {
		t.Errorf("what was killed is written on: file %d", got)
	}
	checkValues(t, f, places)
	n := 0
	for _, k := range known {
		for _, got := range all(t, f, k.Number) {
			if n == 300 {
				break // those written later
			}
			if got != string(key(n)) {
				t.Fatalf("entry %d is of %s", n, got)
			}
			n++
		}
		if next, err := f.Check(k, 0, k.Size); err != nil || next != k.Size {
			t.Errorf("file %d: checked up to %d of %d: %v", k.Number, next, k.Size, err)
		}
	}
	if n != 300 {
		t.Errorf("%d entries", n)
	}
}

func TestPlace(t *testing.T) {
	want := Pointer{File: 7, At: 1 << 31, Size: 9}
	if got, ok := ParsePointer(want.Append(nil)); !ok || got != want {
		t.Errorf("%+v %v", got, ok)
	}
	if _, ok := ParsePointer(want.Append([]byte{0})); ok {
		t.Error("thirteen bytes are a place")
	}
}

// oneFile is a synced file of n values.
func oneFile(t *testing.T, n int) (places []Pointer, known []File, content []byte) {
	t.Helper()
	f := open(t, t.TempDir())
	places = written(t, f, 0, n)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(f.path(1))
	if err != nil {
		t.Fatal(err)
	}
	return places, f.List(), content
}

// put makes content the first file of a directory.
func put(t *testing.T, dir string, content []byte) {
	t.Helper()
	if err := os.WriteFile((&Files{dir: dir}).path(1), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCut cuts a file anywhere: one that was known is refused, of another the whole entries are there.
func TestCut(t *testing.T) {
	places, known, content := oneFile(t, 12)
	for cut := 0; cut < len(content); cut += 1 + cut%5 {
		dir := t.TempDir()
		put(t, dir, content[:cut])
		if _, err := Open(disk.OS, dir, store, known); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		left := open(t, dir)
		want := 0
		for want < len(places) && cut >= fileHeader && int(places[want].At)+entryHeader+len(key(want))+len(value(want)) <= cut {
			want++
		}
		if got := all(t, left, 1); len(got) != want {
			t.Fatalf("cut at %d: %d entries, want %d", cut, len(got), want)
		}
		checkValues(t, left, places[:want])
		if n, ok := left.Waste(0.5); n != 1 || !ok {
			t.Fatalf("cut at %d: nothing of it is known to be of use, yet it is none to empty", cut)
		}
		left.Close()
	}
}

// TestDamaged flips bits: each is found by a check, and a file that holds what nobody can read is not given up.
func TestDamaged(t *testing.T) {
	_, known, content := oneFile(t, 40)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		dir, at := t.TempDir(), r.IntN(len(content))
		b := bytes.Clone(content)
		b[at] ^= 1 << r.IntN(8)
		put(t, dir, b)
		damaged, err := Open(disk.OS, dir, store, known)
		if err == nil {
			_, err = damaged.Check(known[0], 0, known[0].Size)
			damaged.Close()
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("bit of byte %d: %v", at, err)
		}
		if at < fileHeader || at > len(content)/2 {
			continue
		}
		unknown := open(t, dir)
		if n, ok := unknown.Waste(0.5); ok {
			t.Errorf("bit of byte %d: file %d is given up, entries that follow and all", at, n)
		}
		unknown.Close()
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	written(t, f, 0, 3)
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	known := f.List()
	if _, err := Open(disk.OS, dir, [16]byte{9}, known); !errors.Is(err, ErrDamaged) {
		t.Errorf("files of another store: %v", err)
	}
	if _, err := Open(disk.OS, t.TempDir(), store, known); !errors.Is(err, ErrDamaged) {
		t.Errorf("missing: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(disk.OS, dir, store, known); !errors.Is(err, ErrDamaged) {
		t.Errorf("what is no file of values: %v", err)
	}
}

// TestWaste empties the file with the least of use in it first, and the one that is written never.
func TestWaste(t *testing.T) {
	f := open(t, t.TempDir())
	f.Smallest = 4 << 10
	places := written(t, f, 0, 60)
	dead := func(file uint32, part int) {
		for i, p := range places {
			if p.File == file && i%part == 0 {
				f.Dead(p, key(i))
			}
		}
	}
	if n, ok := f.Waste(0.5); ok {
		t.Errorf("file %d", n)
	}
	last := places[len(places)-1].File
	dead(last, 1)
	if n, ok := f.Waste(0.5); ok {
		t.Errorf("file %d, which is written", n)
	}
	dead(1, 1)
	dead(2, 1)
	f.Retire(2)
	if n, ok := f.Waste(0.5); n != 1 || !ok {
		t.Errorf("file %d", n)
	}
	f.Keep(1)
	if n, ok := f.Waste(0.5); ok {
		t.Errorf("file %d", n)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	numbers := func(files []File) (out []uint32) {
		for _, f := range files {
			out = append(out, f.Number)
		}
		return out
	}
	if got := numbers(f.List(2)); len(got) != int(last)-1 || slices.Contains(got, 2) {
		t.Errorf("listed: %v", got)
	}
	if err := f.Drop(2); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.path(2)); err == nil {
		t.Error("the file is still there")
	}
	for i, p := range places {
		if err := f.Read(p, key(i), make([]byte, p.Size)); (err != nil) != (p.File == 2) {
			t.Errorf("value %d of file %d: %v", i, p.File, err)
		}
	}
}

// FuzzParse reads entries of any bytes.
func FuzzParse(f *testing.F) {
	files := &Files{Smallest: smallestFile, fs: disk.OS, dir: f.TempDir(), store: store, files: map[uint32]*file{}}
	if _, err := files.Add([]byte("key"), []byte("value")); err != nil {
		f.Fatal(err)
	}
	defer files.Close()
	entry := files.buf[fileHeader:]
	f.Add(entry)
	f.Add(entry[:len(entry)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		e, n, err := parse(b)
		switch {
		case err == nil && (n != entryHeader+len(e.Key)+len(e.Value) || n > len(b)):
			t.Errorf("an entry of %d bytes, %d of key and %d of value", n, len(e.Key), len(e.Value))
		case errors.Is(err, errShort) && n <= len(b):
			t.Errorf("%d bytes are too few, %d are needed", len(b), n)
		}
	})
}
