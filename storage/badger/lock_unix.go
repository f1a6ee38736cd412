//go:build unix

package badger

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"catena/storage/fault"
)

// acquire takes the lock of a store, which the system gives back when the process ends.
func acquire(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Unavailable.Errorf("store: %w", err)
	}
	if err := takeSoon(f); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fault.Unavailable.Errorf("store %s: in use by another process", dir)
		}
		return nil, fault.Unavailable.Errorf("store %s: %w", dir, err)
	}
	return f, nil
}

// leaving is how long a process that has ended may have the lock: a program that it was starting has it, too, until the system has
// executed that program.
const leaving = time.Second

// takeSoon takes the lock as soon as nobody has it, or gives up.
func takeSoon(f *os.File) error {
	for end := time.Now().Add(leaving); ; time.Sleep(leaving / 50) {
		if err := take(f); !errors.Is(err, unix.EWOULDBLOCK) || time.Now().After(end) {
			return err
		}
	}
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
