// Package disk says what room a disk has. What is done about a full one is for those who write to it.
package disk

// Space is the room of the disk that a folder is on, in bytes.
type Space struct {
	Free  uint64 // for who runs the program
	Whole uint64
}

// Of returns the room of the disk that a folder is on; errors.ErrUnsupported where the system is not asked.
func Of(dir string) (Space, error) { return space(dir) }
