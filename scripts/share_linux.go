package scripts

import (
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// shareFD is where a worker finds the memory it shares with the server.
const shareFD = 3

// shareSeals keep the memory as large as it is: a worker that could cut it would make the
// server fail when it looks there.
const shareSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// newShare makes memory to share with a worker, and the file to hand to it.
func newShare() ([]byte, *os.File, error) {
	fd, err := unix.MemfdCreate("catena-script", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "catena-script")
	if err = unix.Ftruncate(fd, shareSize); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, shareSeals)
	}
	var mem []byte
	if err == nil {
		mem, err = unix.Mmap(fd, 0, shareSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return mem, f, nil
}

// releaseWith gives the memory back once nobody can use l any longer.
func releaseWith(l *link) {
	runtime.AddCleanup(l, release, l.mem)
}

// release gives memory back.
func release(mem []byte) {
	if mem != nil {
		_ = unix.Munmap(mem)
	}
}

// inheritedShare maps the memory that the server has handed to this process; nil if it has not.
func inheritedShare() []byte {
	seals, err := unix.FcntlInt(shareFD, unix.F_GET_SEALS, 0)
	if err != nil || seals != shareSeals {
		return nil
	}
	mem, err := unix.Mmap(shareFD, 0, shareSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	_ = unix.Close(shareFD)
	if err != nil {
		return nil
	}
	return mem
}

// yield lets another thread have the processor if one wants it.
func yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// longestNap is how long a worker waits before it lets its runtime know that it waits.
const longestNap = 10 * time.Millisecond

// nap waits a moment until standard input can be read. The runtime takes the processor away
// from a goroutine that it knows to wait, and wakes other threads for that; a worker has
// nothing else to do.
func nap() {
	in := unix.PollFd{Events: unix.POLLIN}
	longest := unix.NsecToTimespec(longestNap.Nanoseconds())
	_, _, _ = unix.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&in)), 1, uintptr(unsafe.Pointer(&longest)), 0, 0, 0)
}
