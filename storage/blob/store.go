package blob

import (
	"context"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"log/slog"
	"os"
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

// ownDirs are the folders that hold no content of their own.
var ownDirs = map[string]bool{tempDir: true, draftDir: true, cacheDir: true, markDir: true}

// Store keeps content under its digest: in a folder, in a bucket of an object store beside a folder for what is on its
// way, or in memory. Only one process may open a folder, and only one folder belongs to a bucket.
type Store struct {
	root  *os.Root // nil: in memory
	log   *slog.Logger
	dirs  syncer
	whole contents

	sends sends

	hashing sync.WaitGroup // drafts being hashed
	closing atomic.Bool

	mu   sync.Mutex
	busy map[string]*content // digests that are being written or removed
}

// contents are where whole content is. What changes a digest is called by one at a time, all digests being well-formed.
type contents interface {
	// renew has content count as new for collection, and reports whether it is there, of that size in bytes.
	renew(ctx context.Context, digest string, size int64) (bool, error)
	// take makes content durable that is not there.
	take(ctx context.Context, b *Blob) error
	// open opens content for whoever uses it; that it is not there, or of another size, is Internal.
	open(digest string, size int64) (io.ReadSeekCloser, error)
	// read opens content that is read once, from its beginning, as open does.
	read(ctx context.Context, digest string, size int64) (io.ReadCloser, error)
	// find returns the size of content in bytes and when it was last kept; NotFound if it is not there.
	find(ctx context.Context, digest string) (size int64, at time.Time, err error)
	// remove removes content; that it is not there is no error.
	remove(ctx context.Context, digest string) error
	// each calls fn with all content, its size and when it was last kept. It stops at the first error.
	each(ctx context.Context, fn func(digest string, size int64, at time.Time) error) error
	// tidy removes what is not content and of no use since a moment, and reports whether it is time to look for content
	// that is not needed.
	tidy(ctx context.Context, before time.Time) (due bool, err error)
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
	s := &Store{log: log, busy: map[string]*content{}}
	if dir == "" {
		s.whole = &inMemory{all: map[string]kept{}}
		return s, nil
	}
	s.whole = folder{s}
	if err := makeFolder(dir); err != nil {
		return nil, unavailable(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unavailable(err)
	}
	s.root = root
	s.dirs.root = root
	if err := s.clean(); err != nil {
		return nil, unavailable(errors.Join(err, root.Close()))
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
	if !isDigest(c.digest) {
		return nil, malformed(c.digest)
	}
	return c.store.whole.open(c.digest, c.size)
}

// Read opens content of size bytes that is read once, from its beginning, by whoever copies all of it. Nothing else is
// given up for it.
func (s *Store) Read(ctx context.Context, digest string, size int64) (io.ReadCloser, error) {
	if !isDigest(digest) {
		return nil, malformed(digest)
	}
	return s.whole.read(ctx, digest, size)
}

// Has reports whether the store keeps the content.
func (s *Store) Has(ctx context.Context, digest string) (bool, error) {
	if !isDigest(digest) {
		return false, nil
	}
	_, _, err := s.whole.find(ctx, digest)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// Remove removes the content; that it is not there is no error.
func (s *Store) Remove(ctx context.Context, digest string) error {
	if !isDigest(digest) {
		return malformed(digest)
	}
	defer s.lock(digest)()
	return s.whole.remove(ctx, digest)
}

// RemoveBefore removes the content if it was last kept before t, and reports whether it
// did. A Keep of the same content that runs meanwhile wins.
func (s *Store) RemoveBefore(ctx context.Context, digest string, t time.Time) (bool, error) {
	if !isDigest(digest) {
		return false, malformed(digest)
	}
	defer s.lock(digest)()
	_, at, err := s.whole.find(ctx, digest)
	if fault.Is(err, fault.NotFound) || err == nil && !at.Before(t) {
		return false, nil
	}
	if err == nil {
		err = s.whole.remove(ctx, digest)
	}
	return err == nil, err
}

// Each calls fn with everything the store keeps, its bytes and when it was last kept, in no
// particular order. It stops at the first error.
func (s *Store) Each(ctx context.Context, fn func(digest string, size int64, at time.Time) error) error {
	return s.whole.each(ctx, fn)
}

// Old returns the content that was last kept before t, if it is time to look for it: an object store is asked a few times
// between t and now, a folder always. What else was begun before t and is of no use goes.
func (s *Store) Old(ctx context.Context, t time.Time) (digests []string, err error) {
	due, err := s.whole.tidy(ctx, t)
	if err != nil || !due {
		return nil, err
	}
	err = s.whole.each(ctx, func(digest string, _ int64, at time.Time) error {
		if at.Before(t) {
			digests = append(digests, digest)
		}
		return nil
	})
	return digests, err
}

// Verify reads the content and compares it with its digest. Missing content is NotFound,
// damaged content Internal.
func (s *Store) Verify(ctx context.Context, digest string) error {
	if !isDigest(digest) {
		return malformed(digest)
	}
	size, _, err := s.whole.find(ctx, digest)
	if err != nil {
		return err
	}
	r, err := s.whole.read(ctx, digest, size)
	if err != nil {
		return err
	}
	defer r.Close()
	if _, err = io.Copy(io.Discard, check(r, digest, size)); err != nil {
		var known *fault.Error
		if !errors.As(err, &known) {
			err = fault.Unavailable.Errorf("blob %s: %w", digest, err)
		}
	}
	return err
}

// checked passes on what its reader holds, except for the end unless the whole is what its digest says.
type checked struct {
	r       io.Reader
	h       hash.Hash
	digest  string
	n, size int64
}

func check(r io.Reader, digest string, size int64) *checked {
	return &checked{r: r, h: newHash(), digest: digest, size: size}
}

// Read reads on. Damaged content is Internal.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.h.Write(p[:n])
	c.n += int64(n)
	if c.n < c.size && !errors.Is(err, io.EOF) || err != nil && !errors.Is(err, io.EOF) {
		return n, err
	}
	if sum := hex.EncodeToString(c.h.Sum(nil)); sum != c.digest || c.n != c.size {
		return 0, fault.Internal.Errorf("blob %s: content is damaged, its digest is %s", c.digest, sum)
	}
	return n, err
}
