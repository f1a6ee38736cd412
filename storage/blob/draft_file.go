package blob

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"catena/storage/disk"
	"catena/storage/fault"
)

// open opens the draft for reading. One that is gone is NotFound.
func (d *Draft) open() (disk.File, error) {
	f, err := d.store.root.OpenRead(d.path())
	if errors.Is(err, fs.ErrNotExist) {
		f, err = d.store.root.OpenRead(d.path() + sealed)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.NotFound.Errorf("draft %s", d.name)
	case err != nil:
		return nil, unavailable(err)
	}
	return f, nil
}

// piece is content in a part of a draft.
type piece struct {
	draft    *Draft
	at, size int64
}

func (p *piece) open() (io.ReadSeekCloser, error) {
	f, err := p.draft.open()
	if err != nil {
		return nil, err
	}
	return section{io.NewSectionReader(f, p.at, p.size), f}, nil
}

type section struct {
	*io.SectionReader
	io.Closer
}

// grown is content in a whole draft.
type grown struct{ draft *Draft }

func (g *grown) open() (io.ReadSeekCloser, error) { return g.draft.open() }

// seal ends the draft, of which size bytes are whole, and returns the name of its file.
func (g *grown) seal(size int64) (string, error) {
	s, from := g.draft.store, g.draft.path()
	err := s.root.Rename(from, from+sealed)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", unavailable(err)
	}
	from += sealed
	if err := s.cut(from, size); err != nil {
		return "", unavailable(err)
	}
	return from, nil
}

// cut removes what is after size bytes, which an interrupted piece left. A file that cannot be synced is removed, as
// nobody knows then how long it is on disk.
func (s *Store) cut(name string, size int64) error {
	info, err := s.root.Stat(name)
	if err != nil || info.Size() == size {
		return err
	}
	f, err := s.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(size), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, s.root.Remove(name))
	}
	return nil
}

// Drafts calls fn with every draft, its bytes and when it was last written to. It stops at the
// first error.
func (s *Store) Drafts(fn func(name string, size int64, mod time.Time) error) error {
	if s.root.FS == nil {
		return nil
	}
	all, err := s.root.ReadDir(draftDir)
	if err != nil {
		return unavailable(err)
	}
	for _, e := range all {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return unavailable(err)
		}
		name := e.Name()
		if path.Ext(name) == sealed {
			name = name[:len(name)-len(sealed)]
		}
		if err := fn(name, info.Size(), info.ModTime()); err != nil {
			return err
		}
	}
	return nil
}

// RemoveDraft removes a draft; that it is not there is no error. Content made of it stays.
func (s *Store) RemoveDraft(name string) error {
	if s.root.FS == nil {
		return nil
	}
	for _, end := range []string{"", sealed} {
		if err := s.root.Remove(path.Join(draftDir, name) + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unavailable(err)
		}
	}
	return nil
}
