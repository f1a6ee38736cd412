package blob

import (
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/disk"
	"catena/storage/fault"
)

// tempDir holds content on its way in. What a crashed process left there is removed
// when the store is opened.
const tempDir = "tmp"

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// Store keeps content in files named by their digest, two levels of folders deep
// (ab/cd/abcd…). Only one process may open a folder. A Store without a folder keeps
// content in memory, for tests.
type Store struct {
	root *os.Root // nil: in memory
	log  *slog.Logger
	dirs syncer

	sends sends

	hashing sync.WaitGroup // drafts being hashed
	closing atomic.Bool

	mu     sync.Mutex
	busy   map[string]*content // digests that are being written or removed
	memory map[string]kept
}

// kept is content of a store without a folder.
type kept struct {
	data []byte
	mod  time.Time
}

// content serializes work on one digest.
type content struct {
	sync.Mutex
	users int
}

// Open opens the store in dir, which is made if missing; "" means memory.
func Open(dir string, log *slog.Logger) (*Store, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{log: log, busy: map[string]*content{}, memory: map[string]kept{}}
	if dir == "" {
		return s, nil
	}
	if err := makeFolder(dir); err != nil {
		return nil, fault.Unavailable.Errorf("blobs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fault.Unavailable.Errorf("blobs: %w", err)
	}
	s.root = root
	s.dirs.root = root
	if err := s.clean(); err != nil {
		return nil, fault.Unavailable.Errorf("blobs: %w", errors.Join(err, root.Close()))
	}
	return s, nil
}

// makeFolder makes dir, durably, if it is missing.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}

// clean removes what an earlier process left unfinished.
func (s *Store) clean() error {
	left, err := fs.ReadDir(s.root.FS(), tempDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := s.root.RemoveAll(tempDir); err != nil {
		return err
	}
	if len(left) > 0 {
		s.log.Info("unfinished blobs removed", "count", len(left))
	}
	return errors.Join(s.root.Mkdir(tempDir, dirMode), s.dirs.make(draftDir))
}

// Close ends the use of the store. Content that was spooled and not kept is removed.
func (s *Store) Close() error {
	if s.root == nil {
		return nil
	}
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	s.hashing.Wait()
	return errors.Join(s.root.RemoveAll(tempDir), s.root.Close())
}

// begin makes the store wait for a draft that is being hashed, unless it is closing.
func (s *Store) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.hashing.Add(1)
	return true
}

// lock makes the caller the only one at work on a digest, until it calls the result.
func (s *Store) lock(digest string) (unlock func()) {
	s.mu.Lock()
	c := s.busy[digest]
	if c == nil {
		c = new(content)
		s.busy[digest] = c
	}
	c.users++
	s.mu.Unlock()
	c.Lock()
	return func() {
		c.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.users--; c.users == 0 {
			delete(s.busy, digest)
		}
	}
}

// place returns where the content of a digest is, which is nowhere for a malformed one.
func place(digest string) (string, error) {
	if !isDigest(digest) {
		return "", fault.Invalid.Errorf("digest %q: not SHA-256 in lower-case hex", digest)
	}
	return path.Join(digest[:2], digest[2:4], digest), nil
}

func isDigest(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// Load returns a handle to content in the store, with the metadata of meta. Whether the
// content is there is seen when the handle is opened.
func (s *Store) Load(meta Blob) *Blob {
	b := meta
	b.source = &stored{store: s, digest: meta.Digest, size: meta.Size}
	return &b
}

// stored is content that the store keeps.
type stored struct {
	store  *Store
	digest string
	size   int64
}

func (c *stored) open() (io.ReadSeekCloser, error) {
	if c.store.root == nil {
		if isDigest(c.digest) {
			c.store.mu.Lock()
			defer c.store.mu.Unlock()
			if k, ok := c.store.memory[c.digest]; ok && int64(len(k.data)) == c.size {
				return memory(k.data).open()
			}
		}
		return nil, fault.Internal.Errorf("blob %s: content of %d bytes is missing", c.digest, c.size)
	}
	at, err := place(c.digest)
	if err != nil {
		return nil, err
	}
	f, err := c.store.root.Open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Internal.Errorf("blob %s: content is missing", c.digest)
	}
	if err != nil {
		return nil, fault.Unavailable.Errorf("blob %s: %w", c.digest, err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != c.size {
		err = fault.Internal.Errorf("blob %s: content has %d bytes instead of %d", c.digest, info.Size(), c.size)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Has reports whether the store keeps the content.
func (s *Store) Has(digest string) bool {
	at, err := place(digest)
	if err != nil {
		return false
	}
	if s.root == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		_, ok := s.memory[digest]
		return ok
	}
	_, err = s.root.Lstat(at)
	return err == nil
}

// Remove removes the content; that it is not there is no error.
func (s *Store) Remove(digest string) error {
	_, err := s.remove(digest, func(time.Time) bool { return true })
	return err
}

// RemoveBefore removes the content if it was last kept before t, and reports whether it
// did. A Keep of the same content that runs meanwhile wins.
func (s *Store) RemoveBefore(digest string, t time.Time) (bool, error) {
	return s.remove(digest, func(mod time.Time) bool { return mod.Before(t) })
}

func (s *Store) remove(digest string, old func(mod time.Time) bool) (bool, error) {
	at, err := place(digest)
	if err != nil {
		return false, err
	}
	defer s.lock(digest)()
	if s.root == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		k, ok := s.memory[digest]
		if !ok || !old(k.mod) {
			return false, nil
		}
		delete(s.memory, digest)
		return true, nil
	}
	info, err := s.root.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && !old(info.ModTime()) {
		return false, nil
	}
	if err == nil {
		err = s.root.Remove(at)
	}
	if err != nil {
		return false, fault.Unavailable.Errorf("blob %s: %w", digest, err)
	}
	return true, nil
}

// Each calls fn with everything the store keeps and when it was last kept, in no
// particular order. It stops at the first error.
func (s *Store) Each(fn func(digest string, size int64, mod time.Time) error) error {
	if s.root == nil {
		s.mu.Lock()
		all := make(map[string]kept, len(s.memory))
		for digest, k := range s.memory {
			all[digest] = k
		}
		s.mu.Unlock()
		for digest, k := range all {
			if err := fn(digest, int64(len(k.data)), k.mod); err != nil {
				return err
			}
		}
		return nil
	}
	return fs.WalkDir(s.root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed meanwhile
		case err != nil:
			return fault.Unavailable.Errorf("blobs: %w", err)
		case d.IsDir() && (p == tempDir || p == draftDir):
			return fs.SkipDir
		case d.IsDir() || !isDigest(d.Name()):
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fault.Unavailable.Errorf("blob %s: %w", d.Name(), err)
		}
		return fn(d.Name(), info.Size(), info.ModTime())
	})
}

// Verify reads the content and compares it with its digest. Missing content is NotFound,
// damaged content Internal.
func (s *Store) Verify(digest string) error {
	at, err := place(digest)
	if err != nil {
		return err
	}
	h := newHash()
	if s.root == nil {
		s.mu.Lock()
		k, ok := s.memory[digest]
		s.mu.Unlock()
		if !ok {
			return fault.NotFound.Errorf("blob %s", digest)
		}
		h.Write(k.data)
	} else {
		f, err := s.root.Open(at)
		if errors.Is(err, fs.ErrNotExist) {
			return fault.NotFound.Errorf("blob %s", digest)
		}
		if err != nil {
			return fault.Unavailable.Errorf("blob %s: %w", digest, err)
		}
		defer f.Close()
		if _, err := io.Copy(h, f); err != nil {
			return fault.Unavailable.Errorf("blob %s: %w", digest, err)
		}
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != digest {
		return fault.Internal.Errorf("blob %s: content is damaged, its digest is %s", digest, sum)
	}
	return nil
}
