package pgtest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// attributes make the server end with the process of the test, however that ends.
func attributes(as *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
}

// start starts a program and closes ended once it has ended. The thread that starts it lives until then: the system
// takes its end for that of the process.
func start(cmd *exec.Cmd, ended chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(ended)
		}
	}()
	return <-started
}
