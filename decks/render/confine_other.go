//go:build !linux

package render

import (
	"os"
	"os/exec"
)

func giveAway(string) error { return nil }

func confine(*exec.Cmd) {}

func killGroup(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
