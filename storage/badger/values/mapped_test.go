package values

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
)

// mapped returns the numbers of the files that are mapped.
func mapped(f *Files) map[uint32]bool {
	numbers := map[uint32]bool{}
	for _, one := range f.files {
		if one.mapped.size() > 0 {
			numbers[one.number] = true
		}
	}
	return numbers
}

// TestMapped reads values of files that are mapped, as far as they are, before and after their pages were given back.
func TestMapped(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are not mapped")
	}
	f := open(t, t.TempDir())
	f.Smallest = 2000
	places := written(t, f, 0, 40)
	if got := mapped(f); len(got) != int(f.last) || f.last < 4 {
		t.Fatalf("mapped of %d: %v", f.last, got)
	}
	checkValues(t, f, places)
	if err := f.Release(); err != nil {
		t.Fatal(err)
	}
	checkValues(t, f, places)
	f.files[1].mapped.close()
	f.files[2].mapped.close()
	f.files[2].mapped.open(f.files[2].File, 100) // the rest of it is read
	checkValues(t, f, places)
	if err := f.Drop(f.last); err != nil || f.Find(places[39], key(39)) != nil {
		t.Fatalf("dropped: %v", err)
	}
}

// TestMappedBound maps the newest files, up to a bound.
func TestMappedBound(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files are not mapped")
	}
	f := open(t, t.TempDir())
	for range 5 {
		written(t, f, 1, 1)
		if err := f.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range f.files {
		one.size.Store(40 << 20) // as if it were so large
	}
	f.mapNewest()
	if got := mapped(f); len(got) != 3 || !got[f.last] || !got[f.last-1] || !got[f.last-2] {
		t.Fatalf("mapped of %d: %v", f.last, got)
	}
}

// TestMappedGone cuts a file that is mapped: a value behind its end is damaged, the process goes on.
func TestMappedGone(t *testing.T) {
	f := open(t, t.TempDir())
	places := written(t, f, 0, 40)
	last := len(places) - 1
	if err := os.Truncate(f.path(1), 1000); err != nil {
		t.Fatal(err)
	}
	for i, p := range places { // of the page that the file ends in, and of others
		want := int64(p.At)+entrySize(len(key(i)), p.Size) <= 1000
		b := make([]byte, p.Size)
		if err := f.Read(p, key(i), b); want != (err == nil) || want && !bytes.Equal(b, value(i)) || !want && !errors.Is(err, ErrDamaged) {
			t.Errorf("value %d at %d: %v", i, p.At, err)
		}
	}
	b := make([]byte, places[last].Size)
	if err := f.Read(places[last], key(last), b); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if v := f.Find(places[last], key(last)); v != nil {
		t.Fatalf("%d bytes", len(v))
	}
	checkValues(t, f, places[:2])
}

// TestMappedDrop drops a file while others read it: they find the value, or nothing.
func TestMappedDrop(t *testing.T) {
	f := open(t, t.TempDir())
	places := written(t, f, 0, 3)
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for {
				v := f.Find(places[2], key(2))
				if v == nil {
					return
				}
				if !bytes.Equal(v, value(2)) {
					t.Errorf("value: %q", v)
					return
				}
			}
		})
	}
	if err := f.Drop(1); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
}
