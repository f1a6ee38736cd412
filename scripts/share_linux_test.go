package scripts

import (
	"errors"
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"
)

// TestShareStays tries to cut the memory that the server looks at.
func TestShareStays(t *testing.T) {
	mem, f, err := newShare()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, n := range []int64{0, shareSize - 1, 2 * shareSize} {
		if err := f.Truncate(n); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("truncated to %d: %v", n, err)
		}
	}
	if mem[shareSize-1] = 1; mem[shareSize-1] != 1 {
		t.Error("not there")
	}
	if err := unix.Munmap(mem); err != nil {
		t.Error(err)
	}
}
