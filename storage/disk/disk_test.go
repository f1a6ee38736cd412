package disk_test

import (
	"errors"
	"io/fs"
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
