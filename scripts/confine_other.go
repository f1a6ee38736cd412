//go:build !linux

package scripts

import (
	"os/exec"
	"time"
)

// confine has nothing to offer here: the server's clock, the worker's own limits and
// the process boundary remain.
func confine() error { return nil }

func limitCPU(time.Duration) {}

func detach(*exec.Cmd) {}
