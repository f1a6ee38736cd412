// Package disk says what room a disk has, and brings the names in a folder to it. What is done about a full one is
// for those who write to it.
package disk

import "os"

// Space is the room of the disk that a folder is on, in bytes.
type Space struct {
	Free  uint64 // for who runs the program
	Whole uint64
}

// Of returns the room of the disk that a folder is on; errors.ErrUnsupported where the system is not asked.
func Of(dir string) (Space, error) { return space(dir) }

// SyncDir makes the names that were created, changed and removed in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
