package blob

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"catena/storage/fault"
)

// Keep makes the content of b durable under its digest: once it returns, content and name
// are on disk. It must be called before the transaction that names the blob commits, and
// may be called again; content that is there already counts as new for collection.
func (s *Store) Keep(b *Blob) error {
	if c, ok := b.source.(*stored); ok && c.store == s {
		return s.renew(b)
	}
	at, err := place(b.Digest)
	if err != nil {
		return err
	}
	defer s.lock(b.Digest)()
	if s.root == nil {
		return s.keepInMemory(b)
	}
	temp, spooled := b.source.(*spool)
	spooled = spooled && temp.store == s
	if info, err := s.root.Lstat(at); err == nil && info.Size() == b.Size {
		if err := s.touch(b.Digest, at); err != nil {
			return err
		}
		if spooled {
			temp.drop(b)
		}
		return nil
	}
	if spooled {
		return temp.settle(b, at)
	}
	if g, ok := b.source.(*grown); ok && g.draft.store == s {
		return g.settle(b, at)
	}
	return s.copyIn(b, at)
}

// renew keeps content that was loaded from the store.
func (s *Store) renew(b *Blob) error {
	at, err := place(b.Digest)
	if err != nil {
		return err
	}
	defer s.lock(b.Digest)()
	if !s.Has(b.Digest) {
		return fault.Internal.Errorf("blob %s: content is missing", b.Digest)
	}
	if s.root == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.memory[b.Digest] = kept{s.memory[b.Digest].data, time.Now()}
		return nil
	}
	return s.touch(b.Digest, at)
}

// touch makes content look new to collection. An earlier process may have died between
// naming the file and syncing its folder, so that is done here too.
func (s *Store) touch(digest, at string) error {
	now := time.Now()
	err := s.root.Chtimes(at, now, now)
	if err == nil {
		err = s.dirs.sync(path.Dir(at))
	}
	if err != nil {
		return fault.Unavailable.Errorf("blob %s: %w", digest, err)
	}
	return nil
}

func (s *Store) keepInMemory(b *Blob) error {
	data, err := b.Bytes(0)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.memory[b.Digest] = kept{data, time.Now()}
	return nil
}

func unavailable(err error) error { return fault.Unavailable.Errorf("blobs: %w", err) }

// copyIn writes the content to a file of its own, which is synced before it gets its name.
func (s *Store) copyIn(b *Blob, at string) error {
	r, err := b.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	f, from, err := s.temp()
	if err != nil {
		return unavailable(err)
	}
	n, err := io.Copy(f, io.LimitReader(r, b.Size+1))
	switch {
	case err != nil:
		err = unavailable(err)
	case n != b.Size:
		err = fault.Internal.Errorf("blob %s: content does not have %d bytes", b.Digest, b.Size)
	default:
		if err = f.Sync(); err != nil {
			err = unavailable(err)
		}
	}
	if closed := f.Close(); err == nil && closed != nil {
		err = unavailable(closed)
	}
	if err == nil {
		err = s.name(from, at)
	}
	if err != nil {
		temporary{s.root, from}.remove()
	}
	return err
}

// name moves a synced file to its place and syncs the folder.
func (s *Store) name(from, at string) error {
	dir := path.Dir(at)
	if err := s.dirs.make(dir); err != nil {
		return unavailable(err)
	}
	if err := s.root.Rename(from, at); err != nil {
		return unavailable(err)
	}
	if err := s.dirs.sync(dir); err != nil {
		return unavailable(err)
	}
	return nil
}

// temp makes a file for content on its way in.
func (s *Store) temp() (*os.File, string, error) {
	name := path.Join(tempDir, rand.Text())
	f, err := s.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode)
	return f, name, err
}

// syncer makes folders and syncs them. Callers that wait for the same folder share a sync.
type syncer struct {
	root *os.Root

	mu    sync.Mutex
	made  map[string]bool     // folders known to be durable in their parents
	waits map[string]*syncing // by folder
}

// syncing is the state of one folder that somebody syncs: one batch runs, one gathers.
type syncing struct {
	run   sync.Mutex
	next  *batch
	users int
}

type batch struct {
	done chan struct{}
	err  error
}

// sync returns once everything named in dir before the call is durable.
func (y *syncer) sync(dir string) error {
	y.mu.Lock()
	if y.waits == nil {
		y.waits = map[string]*syncing{}
	}
	w := y.waits[dir]
	if w == nil {
		w = new(syncing)
		y.waits[dir] = w
	}
	if b := w.next; b != nil {
		y.mu.Unlock()
		<-b.done
		return b.err
	}
	b := &batch{done: make(chan struct{})}
	w.next = b
	w.users++
	y.mu.Unlock()

	w.run.Lock()
	y.mu.Lock()
	w.next = nil // whoever comes now needs the batch after this one
	y.mu.Unlock()
	b.err = y.fsync(dir)
	w.run.Unlock()
	close(b.done)

	y.mu.Lock()
	defer y.mu.Unlock()
	if w.users--; w.users == 0 {
		delete(y.waits, dir)
	}
	return b.err
}

func (y *syncer) fsync(dir string) error {
	f, err := y.root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// make makes dir and the folders above it, durably.
func (y *syncer) make(dir string) error {
	if dir == "." {
		return nil
	}
	y.mu.Lock()
	known := y.made[dir]
	y.mu.Unlock()
	if known {
		return nil
	}
	parent := path.Dir(dir)
	if err := y.make(parent); err != nil {
		return err
	}
	if err := y.root.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := y.sync(parent); err != nil {
		return err
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.made == nil {
		y.made = map[string]bool{}
	}
	y.made[dir] = true
	return nil
}
