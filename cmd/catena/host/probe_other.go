//go:build !linux

package host

import "errors"

// MaxFiles is not asked for here.
func MaxFiles() (uint64, error) { return 0, errors.ErrUnsupported }

// Synchronised is not asked for here.
func Synchronised() bool { return true }
