//go:build !linux

package blob

import "os"

// ahead is for systems that can begin to write a part of a file.
func ahead(*os.File, int64, int64) {}

// behind is for systems that can forget a part of a file.
func behind(*os.File, int64, int64) {}
