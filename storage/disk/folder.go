package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Folder is a folder of a file system. Names are relative to it, with slashes, and never lead out of it.
type Folder struct {
	FS  FS
	Dir string
}

// at returns the path of a name in the file system.
func (f Folder) at(name string) (string, error) {
	local, err := filepath.Localize(name)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return filepath.Join(f.Dir, local), nil
}

// with calls fn with the path of a name.
func (f Folder) with(name string, fn func(path string) error) error {
	at, err := f.at(name)
	if err != nil {
		return err
	}
	return fn(at)
}

// OpenFile opens a file with the flags of package os and Direct.
func (f Folder) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	at, err := f.at(name)
	if err != nil {
		return nil, err
	}
	return f.FS.OpenFile(at, flag, perm)
}

// OpenRead opens a file for reading.
func (f Folder) OpenRead(name string) (File, error) { return f.OpenFile(name, os.O_RDONLY, 0) }

// Rename renames a file.
func (f Folder) Rename(from, to string) error { return f.both(from, to, f.FS.Rename) }

// Link gives a file another name.
func (f Folder) Link(from, to string) error { return f.both(from, to, f.FS.Link) }

func (f Folder) both(from, to string, fn func(from, to string) error) error {
	return f.with(from, func(from string) error {
		return f.with(to, func(to string) error { return fn(from, to) })
	})
}

// Remove removes a file or an empty folder.
func (f Folder) Remove(name string) error { return f.with(name, f.FS.Remove) }

// RemoveAll removes a folder and what is below it. That it is not there is no error.
func (f Folder) RemoveAll(name string) error {
	entries, err := f.ReadDir(name)
	for _, e := range entries {
		remove := f.Remove
		if e.IsDir() {
			remove = f.RemoveAll
		}
		err = errors.Join(err, remove(name+"/"+e.Name()))
	}
	if err == nil {
		err = f.Remove(name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// MkdirAll creates a folder and those above it.
func (f Folder) MkdirAll(name string, perm fs.FileMode) error {
	return f.with(name, func(at string) error { return f.FS.MkdirAll(at, perm) })
}

// ReadDir lists a folder by name.
func (f Folder) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := f.at(name)
	if err != nil {
		return nil, err
	}
	return f.FS.ReadDir(at)
}

// Stat describes a file.
func (f Folder) Stat(name string) (fs.FileInfo, error) {
	at, err := f.at(name)
	if err != nil {
		return nil, err
	}
	return f.FS.Stat(at)
}

// Chtimes sets the times of a file.
func (f Folder) Chtimes(name string, atime, mtime time.Time) error {
	return f.with(name, func(at string) error { return f.FS.Chtimes(at, atime, mtime) })
}

// SyncDir makes the names in a folder durable.
func (f Folder) SyncDir(name string) error { return f.with(name, f.FS.SyncDir) }

// ReadFile returns the content of a file.
func (f Folder) ReadFile(name string) ([]byte, error) {
	at, err := f.at(name)
	if err != nil {
		return nil, err
	}
	return ReadFile(f.FS, at)
}

// Walk calls fn as fs.WalkDir does, with all that is in the folder.
func (f Folder) Walk(fn fs.WalkDirFunc) error { return fs.WalkDir(walked{f}, ".", fn) }

// walked is a folder as package fs reads it.
type walked struct{ Folder }

// Open opens a file for reading.
func (w walked) Open(name string) (fs.File, error) { return w.OpenRead(name) }
