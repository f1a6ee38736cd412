package badger

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openDirect opens a file whose writes return when the content is on disk, past the page cache where
// the file system can do that.
func openDirect(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_DSYNC|unix.O_DIRECT, 0o600)
	if errors.Is(err, unix.EINVAL) {
		return os.OpenFile(path, flags|unix.O_DSYNC, 0o600)
	}
	return f, err
}

// writeDirect writes whole blocks. Where they turn out not to suit the file system, the file is
// written through the page cache from then on.
func writeDirect(f *os.File, b []byte, at int64) error {
	_, err := f.WriteAt(b, at)
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	raw, e := f.SyscallConn()
	if e != nil {
		return err
	}
	if e := raw.Control(func(fd uintptr) {
		if flags, e := unix.FcntlInt(fd, unix.F_GETFL, 0); e == nil {
			_, _ = unix.FcntlInt(fd, unix.F_SETFL, flags&^unix.O_DIRECT)
		}
	}); e != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return err
}

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
