package disk_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"catena/storage/disk"
)

func TestOf(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, err := disk.Of("."); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v", err)
		}
		return
	}
	s, err := disk.Of(t.TempDir())
	if err != nil || s.Free == 0 || s.Free > s.Whole {
		t.Errorf("got %+v %v", s, err)
	}
	if _, err := disk.Of("/nowhere/at/all"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: got %v", err)
	}
}

// TestDirectUnaligned writes what cannot bypass the page cache: it goes through the cache.
func TestDirectUnaligned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "blocks")
	f, err := disk.OS.OpenFile(path, os.O_RDWR|os.O_CREATE|disk.Direct, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for at, piece := range []string{"a", "b"} {
		if _, err := f.WriteAt([]byte(piece), int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "ab" {
		t.Errorf("%q, %v", got, err)
	}
}
