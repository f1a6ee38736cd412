package disk

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func space(dir string) (Space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return Space{}, err
	}
	return Space{Free: s.Bavail * uint64(s.Bsize), Whole: s.Blocks * uint64(s.Bsize)}, nil
}

// openDirect opens a file whose writes return when the content is on disk, past the page cache where
// the file system can do that.
func openDirect(path string, flags int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_DSYNC|unix.O_DIRECT, perm)
	if errors.Is(err, unix.EINVAL) {
		return os.OpenFile(path, flags|unix.O_DSYNC, perm)
	}
	return f, err
}

// writeDirect writes whole blocks. If the file system turns out not to accept them, the file is
// written through the page cache from then on.
func writeDirect(f *os.File, b []byte, at int64) (int, error) {
	n, err := f.WriteAt(b, at)
	if !errors.Is(err, unix.EINVAL) {
		return n, err
	}
	if e := control(f, func(fd int) error {
		flags, e := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if e == nil {
			_, e = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags&^unix.O_DIRECT)
		}
		return e
	}); e != nil {
		return n, err
	}
	return f.WriteAt(b, at)
}

// syncData brings a file's content to disk, without its times.
func syncData(f *os.File) error { return control(f, unix.Fdatasync) }

// reserve allocates the blocks of a file's first bytes.
func reserve(f *os.File, size int64) error {
	err := control(f, func(fd int) error { return unix.Fallocate(fd, unix.FALLOC_FL_KEEP_SIZE, 0, size) })
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return err
}

// control calls fn with the descriptor of a file until no signal interrupts it.
func control(f *os.File, fn func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		for {
			if failed = fn(int(fd)); !errors.Is(failed, unix.EINTR) {
				return
			}
		}
	}); err != nil {
		return err
	}
	if failed != nil {
		return &fs.PathError{Op: "sync or reserve", Path: f.Name(), Err: failed}
	}
	return nil
}
