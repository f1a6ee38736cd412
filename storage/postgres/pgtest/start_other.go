//go:build !linux

package pgtest

import (
	"os/exec"
	"syscall"
)

// attributes let the server be stopped with all its processes.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true}
}

// start starts a program and closes ended once it has ended.
func start(cmd *exec.Cmd, ended chan struct{}) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	return nil
}
