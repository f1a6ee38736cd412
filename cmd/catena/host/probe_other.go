//go:build !linux

package main

import "errors"

// maxFiles is not asked for here.
func maxFiles() (uint64, error) { return 0, errors.ErrUnsupported }

// synchronised is not asked for here.
func synchronised() bool { return true }
