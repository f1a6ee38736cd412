//go:build unix

package badger

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"catena/storage/fault"
)

// acquire takes the lock of a store, which the system gives back when the process ends.
func acquire(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Unavailable.Errorf("store: %w", err)
	}
	if err := take(f); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fault.Unavailable.Errorf("store %s: in use by another process", dir)
		}
		return nil, fault.Unavailable.Errorf("store %s: %w", dir, err)
	}
	return f, nil
}

func take(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// InUse reports whether a process has the store in dir open.
func InUse(dir string) (bool, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = take(f)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}
