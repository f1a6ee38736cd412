package blob

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"catena/storage/disk"
)

// TestRecent remembers the blocks of a file for a while, unless the file changes.
func TestRecent(t *testing.T) {
	f, err := disk.OS.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(100 * blockSize); err != nil {
		t.Fatal(err)
	}
	var r recent
	now := time.Now()
	if r.of("a", f, now) != nil {
		t.Error("a file that has just changed is remembered")
	}
	now = now.Add(2 * recentQuiet)
	r.of("a", f, now).add(70 * blockSize)
	for at, want := range map[int64]bool{69: false, 70: true, 71: false} {
		if got := r.of("a", f, now).has(at * blockSize); got != want {
			t.Errorf("block %d: %t", at, got)
		}
	}
	if r.of("b", f, now).has(70 * blockSize) {
		t.Error("another content is the same")
	}
	if r.of("a", f, now.Add(recentFor)).has(70 * blockSize) {
		t.Error("remembered for too long")
	}
	r.of("a", f, now).add(70 * blockSize)
	info, err := f.Stat()
	if err == nil {
		time.Sleep(20 * time.Millisecond)
		_, err = f.WriteAt([]byte{1}, 70*blockSize)
	}
	if err == nil {
		err = os.Chtimes(f.Name(), info.ModTime(), info.ModTime()) // as if nothing had been written
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.of("a", f, time.Now().Add(2*recentQuiet)).has(70 * blockSize) {
		t.Error("a change of the file is not noticed")
	}
}

// TestRecentDamage sends a content that was verified a moment ago and is then changed on the disk, to a client that is
// sent it while that happens.
func TestRecentDamage(t *testing.T) {
	s, err := Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b, data := long(t, s)
	time.Sleep(recentQuiet + 100*time.Millisecond)
	for range 3 { // from the second time on as a file
		if err := send(t, b, io.Discard, 0, b.Size); err != nil {
			t.Fatal(err)
		}
	}
	const at = window + 5
	var got bytes.Buffer
	err = send(t, b, writer(func(p []byte) (int, error) {
		if got.Len() == 0 {
			f, err := s.root.OpenFile(contentPath(b.Digest), os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteAt([]byte{data[at] ^ 1}, at)
			}
			if err == nil {
				err = f.Close()
			}
			if err != nil {
				t.Error(err)
			}
		}
		return got.Write(p)
	}), 0, b.Size)
	if DamageIn(err) == nil || !bytes.Equal(got.Bytes(), data[:window]) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
