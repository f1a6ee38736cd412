//go:build !linux

package badger

import (
	"math"
	"os"
)

// openDirect opens a file whose writes return when the content is on disk.
func openDirect(path string, flags int) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_SYNC, 0o600)
}

// writeDirect writes whole blocks.
func writeDirect(f *os.File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	return err
}

// datasync brings a file's content to disk.
func datasync(f *os.File) error { return f.Sync() }

// diskSpace is not known here: writes are refused by the file system only.
func diskSpace(string) (free, whole uint64, err error) { return math.MaxUint64, math.MaxUint64, nil }
