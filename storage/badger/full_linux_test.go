package badger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/kv"
)

// smallDisk mounts a file system in memory.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// TestSmallDisk starts a store on a real disk without room, where mapped files would end the process with SIGBUS.
func TestSmallDisk(t *testing.T) {
	dir := smallDisk(t, "8m")
	if s, err := Open(filepath.Join(dir, "store"), Options{Log: quiet}); fault.CodeOf(err) != fault.CodeDiskFull {
		t.Errorf("opened: %v %v", s, err)
	}
}

// TestFilledDisk has somebody else fill a real disk under a running store: writes are refused, reads go on, what was
// committed waits, and all goes on once there is room again.
func TestFilledDisk(t *testing.T) {
	dir := smallDisk(t, "256m")
	opened, err := Open(filepath.Join(dir, "store"), Options{Log: quiet, MinFree: 96 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*store)
	d := kv.New(s, kv.Options{Attempts: 1})
	fill(t, d, 0, 20)
	ballast := filepath.Join(dir, "ballast")
	w, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	for piece := make([]byte, 1<<20); err == nil; {
		_, err = w.Write(piece)
	}
	_ = w.Close()
	if space, err := disk.Of(dir); err != nil || space.Free > 0 {
		t.Fatalf("%+v %v", space, err)
	}
	put := func() error {
		return d.Update(ctx, func(tx *kv.Tx) error { return tx.Set([]byte("m"), make([]byte, 4*inlineSize)) })
	}
	deadline := time.Now().Add(20 * time.Second)
	for put() == nil && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if err := put(); fault.CodeOf(err) != fault.CodeDiskFull {
		t.Errorf("on a full disk: %v", err)
	}
	if got := filled(t, s); got != 20 {
		t.Errorf("%d transactions", got)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for err = put(); err != nil && time.Now().Before(deadline); err = put() {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		t.Errorf("with room again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
