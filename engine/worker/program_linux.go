package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where programs, their libraries, their settings and their fonts are. Nothing here is a secret of the machine.
var systemFiles = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/fonts", "/etc/ImageMagick-6", "/etc/ImageMagick-7",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/libreoffice", "/etc/localtime", "/etc/nsswitch.conf", "/etc/papersize",
	"/etc/passwd", "/etc/group", "/etc/locale.alias", "/var/cache/fontconfig", "/var/lib/libreoffice", "/var/spool/libreoffice", "/dev/urandom", "/dev/random", "/dev/zero", "/proc/self", "/proc/meminfo", "/proc/cpuinfo",
	"/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu",
}

// Rights of Landlock.
const (
	mayRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	ofFile   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	maySocks = unix.LANDLOCK_ACCESS_FS_MAKE_SOCK
)

// Confinable returns why programs cannot be confined on this system, or nil.
var Confinable = sync.OnceValue(func() error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno != 0:
		return fmt.Errorf("%w: the kernel has no Landlock (%w)", ErrNotConfined, errno)
	case version < 1 || nativeArch == 0:
		return fmt.Errorf("%w: %s", ErrNotConfined, runtime.GOARCH)
	}
	return nil
})

// handled are the rights that this kernel knows to deny: each version has some more.
func handled() uint64 {
	version, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case version >= 5:
		return 1<<16 - 1
	case version >= 3:
		return 1<<15 - 1
	case version >= 2:
		return 1<<14 - 1
	}
	return 1<<13 - 1
}

// become confines this thread and replaces the process by the program, which keeps what holds for the thread.
func become(p Program) error {
	runtime.LockOSThread()
	set := func(what int, n int64) error {
		return unix.Setrlimit(what, &unix.Rlimit{Cur: uint64(n), Max: uint64(n)})
	}
	err := errors.Join(
		set(unix.RLIMIT_CORE, 0), set(unix.RLIMIT_FSIZE, p.Write), set(unix.RLIMIT_NOFILE, 512), set(unix.RLIMIT_DATA, p.Data),
		unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
	)
	if p.CPU > 0 {
		// At the higher limit the signal is one that says nothing.
		n := uint64((p.CPU + time.Second - 1) / time.Second)
		err = errors.Join(err, unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: n, Max: n + 5}))
	}
	if err != nil {
		return err
	}
	dropCapabilities()
	if err := onlyFiles(p); err != nil {
		return fmt.Errorf("files: %w", err)
	}
	// Last, since it denies what came before.
	if err := noNetwork(p.Local); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	return fmt.Errorf("%s: %w", p.Argv[0], syscall.Exec(p.Argv[0], p.Argv, p.Env))
}

// dropCapabilities has a program of root start without what root may do beyond others. Others have none to drop.
func dropCapabilities() {
	for c := uintptr(0); c < 64; c++ {
		if unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) != nil {
			return
		}
	}
}

// onlyFiles denies all files but those of the system, for reading, and those of the program's folder.
func onlyFiles(p Program) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: handled()}
	fd, err := landlock(&attr, unsafe.Sizeof(attr.Handled_access_fs))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	allow := func(path string, rights uint64) error {
		return permit(fd, path, rights&attr.Handled_access_fs)
	}
	err = errors.Join(allow(p.Dir, attr.Handled_access_fs), allow("/dev/null", ofFile))
	for _, path := range systemFiles {
		err = errors.Join(err, allow(path, mayRead))
	}
	for _, path := range p.Read {
		err = errors.Join(err, allow(path, mayRead))
	}
	if p.Local {
		err = errors.Join(err, allow("/tmp", maySocks))
	}
	if err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// permit adds a rule for a file or folder. One that does not exist needs none.
func permit(ruleset int, path string, rights uint64) error {
	at, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = unix.Close(at) }()
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile // the kernel refuses others for a file
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(at)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("%s: %w", path, errno)
	}
	return nil
}

// nativeArch is how the kernel names the architecture in filters of system calls; 0 if it is not known here.
var nativeArch = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// refused are system calls that no converter of files needs, and that have helped others out of their confinement.
// io_uring is among them because its sockets are not seen by the filter.
var refused = []uintptr{
	unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_USERFAULTFD,
}

// noNetwork has the kernel refuse sockets: all of them, or those that lead beyond this machine.
func noNetwork(local bool) error {
	const (
		load   = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		equal  = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		above  = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		result = unix.BPF_RET | unix.BPF_K
		// Where a filter finds the number of the call, the architecture and the lower half of the first argument.
		number, arch, first = 0, 4, 16
		deny                = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	)
	code := []unix.SockFilter{
		{Code: load, K: arch},
		{Code: equal, K: nativeArch, Jt: 1},
		{Code: result, K: unix.SECCOMP_RET_KILL_PROCESS},
		{Code: load, K: number},
		{Code: above, K: 0x40000000, Jf: 1}, // the other numbers of calls that x86 has
		{Code: result, K: deny},
	}
	for _, n := range refused {
		code = append(code, unix.SockFilter{Code: equal, K: uint32(n), Jf: 1}, unix.SockFilter{Code: result, K: deny})
	}
	code = append(code, unix.SockFilter{Code: equal, K: unix.SYS_SOCKET, Jt: 1}, unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW})
	if local {
		code = append(code, unix.SockFilter{Code: load, K: first}, unix.SockFilter{Code: equal, K: unix.AF_UNIX, Jf: 1}, unix.SockFilter{Code: result, K: unix.SECCOMP_RET_ALLOW})
	}
	code = append(code, unix.SockFilter{Code: result, K: deny})
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// alone puts a process into a group of its own, so that it can be ended with all that it starts.
func alone(c *exec.Cmd) { c.SysProcAttr.Setpgid = true }

// killAll ends a process and its group.
func killAll(c *exec.Cmd) { _ = unix.Kill(-c.Process.Pid, unix.SIGKILL) }
