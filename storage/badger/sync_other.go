//go:build !linux

package badger

import "os"

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
