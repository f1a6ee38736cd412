package blob

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	"catena/storage/disk"

	"golang.org/x/sys/unix"
)

// TestSendForgets looks at the memory that a content takes once it was sent.
func TestSendForgets(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, _ := long(t, s)
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	fd := int(disk.Raw(r.(*verified).in.(disk.File)).Fd())
	_, err = unix.Preadv2(fd, [][]byte{make([]byte, 1)}, 0, unix.RWF_DONTCACHE)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		t.Skip("this system keeps everything in memory")
	}
	inMemory := func() int64 {
		var c unix.Cachestat_t
		if err := unix.Cachestat(uint(fd), &unix.CachestatRange{}, &c, 0); err != nil {
			t.Skip(err)
		}
		return int64(c.Cache) * int64(os.Getpagesize())
	}
	sent := func() int64 {
		if err := unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
		if err := b.Send(io.Discard, r, 0, b.Size); err != nil {
			t.Fatal(err)
		}
		return inMemory()
	}
	if n := sent(); n > b.Size/2 {
		t.Errorf("once: %d of %d bytes are in memory", n, b.Size)
	}
	if n := sent(); n < b.Size/2 {
		t.Errorf("twice: %d of %d bytes are in memory", n, b.Size)
	}
}

// TestReadPassingFallsBack reads a file of memory, which the system refuses to forget.
func TestReadPassingFallsBack(t *testing.T) {
	fd, err := unix.MemfdCreate("content", 0)
	if err != nil {
		t.Skip(err)
	}
	f, err := disk.OS.OpenFile(fmt.Sprintf("/proc/self/fd/%d", fd), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	defer func() { _ = unix.Close(fd) }()
	want := bytes.Repeat([]byte("0123456789"), 1000)
	if _, err := f.WriteAt(want, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Preadv2(fd, [][]byte{make([]byte, 1)}, 0, unix.RWF_DONTCACHE); err == nil {
		t.Skipf("this system can: %d", n)
	}
	got, err := io.ReadAll(&passing{f, 0})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
