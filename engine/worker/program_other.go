//go:build !linux

package worker

import "os/exec"

// Confinable returns why programs cannot be confined: only Linux has what is needed.
func Confinable() error { return ErrNotConfined }

func become(Program) error { return ErrNotConfined }

func alone(*exec.Cmd) {}

func killAll(c *exec.Cmd) { _ = c.Process.Kill() }
