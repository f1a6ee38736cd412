package render

import (
	"os"
	"os/exec"
	"syscall"
)

// nobody is the user and group without rights.
const nobody = 65534

// giveAway gives a folder to the user the browser runs as.
// The folder was made by root, and only the browser's user is to write to it.
func giveAway(folder string) error {
	if os.Getuid() != 0 {
		return nil
	}
	return os.Chown(folder, nobody, nobody)
}

// confine has a program run as nobody if we are root, in a group of processes of its own
// that ends with us.
func confine(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Dir = "/"
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}
	}
}

// killGroup ends a browser with all of its processes: renderers, the zygote and the GPU process stay in the
// group that confine made.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// gone reports whether a process has ended. A process of another user counts as running (EPERM).
func gone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH } //nolint:errorlint // Kill returns it bare
