package worker

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Confine takes away from this process, a worker, what it does not need: files, core dumps, privileges, and
// memory above so many bytes of data, of which the runtime of Go needs some. The calling goroutine, which is to do
// the work, stays on its thread from here on: where the process is linked with C, only that thread can be confined.
func Confine(data int64) error {
	runtime.LockOSThread()
	set := func(what int, n uint64) error {
		return unix.Setrlimit(what, &unix.Rlimit{Cur: n, Max: n})
	}
	if err := everywhere(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1); err != nil {
		return err
	}
	return errors.Join(
		set(unix.RLIMIT_DATA, uint64(data)),
		set(unix.RLIMIT_CORE, 0),
		set(unix.RLIMIT_FSIZE, 0),
		set(unix.RLIMIT_NOFILE, 16),
		noFiles(),
	)
}

// limit bounds a process that is another program: so many bytes of data, no files written, no core dumps.
func limit(pid int, data int64) error {
	set := func(what int, n uint64) error {
		return unix.Prlimit(pid, what, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	return errors.Join(set(unix.RLIMIT_DATA, uint64(data)), set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_FSIZE, 0))
}

// noFiles denies every access to the file system, and to TCP, where the kernel knows how.
func noFiles() error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: 1<<13 - 1, Handled_access_net: 1<<2 - 1}
	fd, err := landlock(&attr, unsafe.Sizeof(attr.Handled_access_fs)+unsafe.Sizeof(attr.Handled_access_net))
	if err != nil {
		fd, err = landlock(&attr, unsafe.Sizeof(attr.Handled_access_fs))
	}
	if err != nil {
		return nil // an older kernel: the other bounds stand
	}
	defer func() { _ = unix.Close(fd) }()
	return everywhere(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0)
}

// everywhere makes a system call on every thread, or on this one where that cannot be.
func everywhere(call, a, b uintptr) error {
	_, _, errno := syscall.AllThreadsSyscall6(call, a, b, 0, 0, 0, 0)
	if errno == unix.ENOTSUP {
		_, _, errno = syscall.Syscall6(call, a, b, 0, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

// landlock makes a ruleset, which has no rules and so allows nothing it handles.
func landlock(attr *unix.LandlockRulesetAttr, size uintptr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// LimitCPU lets the process use that much more time of a processor than it has used.
func LimitCPU(d time.Duration) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return
	}
	used := time.Duration(u.Utime.Nano() + u.Stime.Nano())
	n := uint64((used + d + time.Second - 1) / time.Second)
	_ = unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY})
}

// detach makes the worker die with the server.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
