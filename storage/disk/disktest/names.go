package disktest

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"catena/storage/disk"
)

// OpenFile opens a file.
func (f *Faulty) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	name = filepath.Clean(name)
	op := Open
	if _, err := os.Lstat(name); err != nil && flag&os.O_CREATE != 0 {
		op |= Create
	}
	v := f.enter(op, name)
	defer f.mu.Unlock()
	if v.err != nil {
		return nil, v.err
	}
	writes := flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC|os.O_APPEND) != 0
	n := f.now[name]
	if writes {
		n = f.known(name)
	}
	if n != nil && flag&os.O_TRUNC != 0 && flag&os.O_EXCL == 0 {
		if err := f.truncate(n, 0); err != nil {
			return nil, err
		}
	}
	raw, err := os.OpenFile(name, flag&^disk.Direct, perm)
	if err != nil {
		return nil, err
	}
	if n == nil && writes {
		n = &node{path: name}
		f.apply(change{name: n})
	}
	return &file{fs: f, raw: raw, node: n, direct: flag&disk.Direct != 0, end: flag&os.O_APPEND != 0}, nil
}

// Rename renames a file.
func (f *Faulty) Rename(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	v := f.enter(Rename, to)
	defer f.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	n, old := f.known(from), f.known(to)
	if n == nil || n == old {
		return os.Rename(from, to) // a folder, or nothing
	}
	if old != nil {
		if err := f.discard(to, old); err != nil {
			return err
		}
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if n.path == from {
		n.path = to
	}
	f.apply(change{from: nil, to: n})
	return nil
}

// Link gives a file another name.
func (f *Faulty) Link(from, to string) error {
	from, to = filepath.Clean(from), filepath.Clean(to)
	v := f.enter(Rename, to)
	defer f.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	n := f.known(from)
	f.known(to)
	if err := os.Link(from, to); err != nil {
		return err
	}
	f.apply(change{to: n})
	return nil
}

// Remove removes a file or an empty folder.
func (f *Faulty) Remove(name string) error {
	name = filepath.Clean(name)
	v := f.enter(Remove, name)
	defer f.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	n := f.known(name)
	if n == nil {
		return os.Remove(name)
	}
	if err := f.discard(name, n); err != nil {
		return err
	}
	f.apply(change{name: nil})
	return nil
}

// MkdirAll creates a folder and those above it. Folders are durable at once: what is in them is not.
func (f *Faulty) MkdirAll(dir string, perm fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	v := f.enter(Create, dir)
	defer f.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	return os.MkdirAll(dir, perm)
}

// ReadDir lists a folder.
func (f *Faulty) ReadDir(dir string) ([]fs.DirEntry, error) {
	v := f.enter(List, dir)
	defer f.mu.Unlock()
	if v.err != nil {
		return nil, v.err
	}
	return os.ReadDir(dir)
}

// Stat describes a file.
func (f *Faulty) Stat(name string) (fs.FileInfo, error) {
	if f.Crashed() {
		return nil, pathError(name, ErrCrashed)
	}
	return os.Stat(name)
}

// Chtimes sets the times of a file; whether they are kept, a crash does not say.
func (f *Faulty) Chtimes(name string, atime, mtime time.Time) error {
	if f.Crashed() {
		return pathError(name, ErrCrashed)
	}
	return os.Chtimes(name, atime, mtime)
}

// SyncDir makes the names in a folder durable.
func (f *Faulty) SyncDir(dir string) error {
	dir = filepath.Clean(dir)
	v := f.enter(SyncDir, dir)
	defer f.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	f.settle(dir)
	return nil
}

// Space returns the room that SetRoom left, or that of the real disk.
func (f *Faulty) Space(dir string) (disk.Space, error) {
	f.mu.Lock()
	room, used := f.room, f.used
	f.mu.Unlock()
	if room < 0 {
		return disk.Of(dir)
	}
	return disk.Space{Free: uint64(max(room-used, 0)), Whole: uint64(max(room, room-used))}, nil
}
