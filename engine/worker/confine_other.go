//go:build !linux

package worker

import (
	"os/exec"
	"time"
)

// Confine has nothing to offer here: the server's clock, the worker's own limits and
// the process boundary remain.
func Confine(int64) error { return nil }

func limit(int, int64) error { return nil }

// LimitCPU has nothing to offer either.
func LimitCPU(time.Duration) {}

func detach(*exec.Cmd) {}
