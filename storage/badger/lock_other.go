//go:build !unix

package badger

import (
	"errors"
	"os"
	"path/filepath"

	"catena/storage/fault"
)

// acquire opens the lock file; Badger's own lock keeps others out here.
func acquire(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.Unavailable.Errorf("store: %w", err)
	}
	return f, nil
}

// InUse is not known here.
func InUse(string) (bool, error) { return false, errors.ErrUnsupported }
