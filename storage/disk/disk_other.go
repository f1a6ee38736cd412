//go:build !linux

package disk

import (
	"errors"
	"io/fs"
	"os"
)

func space(string) (Space, error) { return Space{}, errors.ErrUnsupported }

// openDirect opens a file whose writes return when the content is on disk.
func openDirect(path string, flags int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flags|os.O_SYNC, perm)
}

// writeDirect writes whole blocks.
func writeDirect(f *os.File, b []byte, at int64) (int, error) { return f.WriteAt(b, at) }

// syncData brings a file's content to disk.
func syncData(f *os.File) error { return f.Sync() }

// reserve does nothing.
func reserve(*os.File, int64) error { return nil }
