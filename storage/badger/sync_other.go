//go:build !linux

package badger

import (
	"math"
	"os"
)

// synchronous has a write return when the content is on disk.
const synchronous = os.O_SYNC

// datasync brings a file's content to disk.
func datasync(f *os.File) error { return f.Sync() }

// diskSpace is not known here: writes are refused by the file system only.
func diskSpace(string) (free, whole uint64, err error) { return math.MaxUint64, math.MaxUint64, nil }
