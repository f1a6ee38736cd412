package blob

import (
	"io"

	"catena/storage/disk"

	"golang.org/x/sys/unix"
)

// ahead has the disk begin with a part of a file, so that a later sync has less to wait for.
// Nothing depends on it.
func ahead(f disk.File, at, n int64) {
	control(f, func(fd int) { _ = unix.SyncFileRange(fd, at, n, unix.SYNC_FILE_RANGE_WRITE) })
}

// behind has the memory of a part of a file used for what comes next, once the part is on disk.
// Memory that a system must first find costs more than the disk. Nothing depends on it.
func behind(f disk.File, at, n int64) {
	control(f, func(fd int) {
		const through = unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER
		if unix.SyncFileRange(fd, at, n, through) == nil {
			_ = unix.Fadvise(fd, at, n, unix.FADV_DONTNEED)
		}
	})
}

// readPassing reads as ReadAt does. What the disk must be asked for does not stay in memory; what is
// there already does.
func readPassing(f disk.File, b []byte, at int64) (n int, err error) {
	for n < len(b) {
		var m int
		err = unix.ENOTSUP
		control(f, func(fd int) { m, err = unix.Preadv2(fd, [][]byte{b[n:]}, at+int64(n), unix.RWF_DONTCACHE) })
		switch {
		case err != nil: // not every kernel can, nor every file system
			m, err = f.ReadAt(b[n:], at+int64(n))
			return n + m, err
		case m == 0:
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// identify returns what a file is now.
func identify(f disk.File) (id identity, ok bool) {
	control(f, func(fd int) {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) == nil {
			id, ok = identity{s.Dev, s.Ino, s.Size, s.Mtim.Nano(), s.Ctim.Nano()}, true
		}
	})
	return id, ok
}

// control calls fn with the descriptor of a file of the operating system.
func control(f disk.File, fn func(fd int)) {
	file := disk.Raw(f)
	if file == nil {
		return
	}
	if raw, err := file.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { fn(int(fd)) })
	}
}
