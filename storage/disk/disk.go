// Package disk is the file system as the stores see it. All their reads, writes and syncs go through FS, so that a
// test can make any of them fail or stop the machine in the middle of one (package disktest). Badger's own tables are
// the exception: package mounttest fails those. What is done about a full or failing disk is up to the callers.
package disk

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"
)

// Block is the size in bytes, and the alignment in memory and in the file, of what is written to a file that was
// opened with Direct. No disk has larger blocks.
const Block = 4096

// Direct is a flag of OpenFile: each write returns once its content is on disk, without passing through the page
// cache where the file system allows that. Writes must consist of whole blocks.
const Direct = 1 << 30

// FS is a file system. Names are paths as package os takes them.
type FS interface {
	// OpenFile opens a file with the flags of package os and Direct.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Link(from, to string) error
	Remove(name string) error
	MkdirAll(dir string, perm fs.FileMode) error
	ReadDir(dir string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	Chtimes(name string, atime, mtime time.Time) error
	// SyncDir makes the names that were created, changed and removed in a folder durable.
	SyncDir(dir string) error
	// Space returns the room on the disk that a folder is on; errors.ErrUnsupported if it is not known.
	Space(dir string) (Space, error)
}

// File is an open file. After a Sync or SyncData that fails, nobody knows what is on disk, and a later one that
// succeeds proves nothing.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	Name() string
	Stat() (fs.FileInfo, error)
	Truncate(size int64) error
	// Sync brings content and metadata to disk.
	Sync() error
	// SyncData brings content to disk, without the file's times.
	SyncData() error
	// Reserve allocates the blocks of the file's first bytes without changing its size. Where the file system cannot
	// do that it does nothing.
	Reserve(size int64) error
}

// Space is the room of the disk that a folder is on, in bytes.
type Space struct {
	Free  uint64 // for the user who runs the program
	Whole uint64
}

// OS is the file system of the operating system.
var OS FS = osFS{}

// Of returns the room of the disk that a folder is on; errors.ErrUnsupported where the system is not asked.
func Of(dir string) (Space, error) { return space(dir) }

// SyncDir makes the names that were created, changed and removed in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open opens a file for reading.
func Open(f FS, name string) (File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// ReadFile returns the content of a file.
func ReadFile(f FS, name string) (b []byte, err error) {
	r, err := Open(f, name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	b = make([]byte, info.Size())
	n, err := io.ReadFull(io.NewSectionReader(r, 0, info.Size()), b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return b[:n], err
}

// Raw returns the file of the operating system beneath f, nil if f is not simply that.
func Raw(f File) *os.File {
	if f, ok := f.(*file); ok {
		return f.File
	}
	return nil
}

// osFS is OS.
type osFS struct{}

// OpenFile opens a file.
func (osFS) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	direct := flag&Direct != 0
	open := os.OpenFile
	if flag &^= Direct; direct {
		open = openDirect
	}
	f, err := open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &file{f, direct}, nil
}

// Rename renames a file.
func (osFS) Rename(from, to string) error { return os.Rename(from, to) }

// Link gives a file another name.
func (osFS) Link(from, to string) error { return os.Link(from, to) }

// Remove removes a file or an empty folder.
func (osFS) Remove(name string) error { return os.Remove(name) }

// MkdirAll creates a folder and those above it.
func (osFS) MkdirAll(dir string, perm fs.FileMode) error { return os.MkdirAll(dir, perm) }

// ReadDir lists a folder.
func (osFS) ReadDir(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

// Stat describes a file.
func (osFS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// Chtimes sets the times of a file.
func (osFS) Chtimes(name string, atime, mtime time.Time) error { return os.Chtimes(name, atime, mtime) }

// SyncDir syncs a folder.
func (osFS) SyncDir(dir string) error { return SyncDir(dir) }

// Space returns the room of a disk.
func (osFS) Space(dir string) (Space, error) { return space(dir) }

// file is a file of OS.
type file struct {
	*os.File
	direct bool
}

// WriteAt writes at an offset.
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	if f.direct {
		return writeDirect(f.File, b, at)
	}
	return f.File.WriteAt(b, at)
}

// SyncData brings content to disk.
func (f *file) SyncData() error { return syncData(f.File) }

// Reserve allocates blocks.
func (f *file) Reserve(size int64) error { return reserve(f.File, size) }
