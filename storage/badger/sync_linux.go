package badger

import (
	"os"

	"golang.org/x/sys/unix"
)

// synchronous has a write return when the content is on disk.
const synchronous = unix.O_DSYNC

// datasync brings a file's content to disk, without its times.
func datasync(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		for {
			if failed = unix.Fdatasync(int(fd)); failed != unix.EINTR {
				return
			}
		}
	}); err != nil {
		return err
	}
	return failed
}

// diskSpace returns the free and the whole size of the file system dir is on.
func diskSpace(dir string) (free, whole uint64, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	return s.Bavail * uint64(s.Bsize), s.Blocks * uint64(s.Bsize), nil
}
