//go:build !linux

package blob

import "catena/storage/disk"

// ahead is for systems that can begin to write a part of a file.
func ahead(disk.File, int64, int64) {}

// behind is for systems that can forget a part of a file.
func behind(disk.File, int64, int64) {}

// readPassing is for systems that can read a part of a file and not keep it in memory.
func readPassing(f disk.File, b []byte, at int64) (int, error) { return f.ReadAt(b, at) }

// identify is for systems that tell when a file was last changed in any way.
func identify(disk.File) (identity, bool) { return identity{}, false }
