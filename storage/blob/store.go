package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/disk"
	"catena/storage/fault"
)

// tempDir holds content on its way in. What a crashed process left there is removed when the store is opened. If several
// processes have the folder, each has a folder of its own in it, which others remove once nothing came into it for leftover.
const (
	tempDir  = "tmp"
	leftover = 24 * time.Hour
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// ownDirs are the folders that hold no content of their own.
var ownDirs = map[string]bool{tempDir: true, draftDir: true, cacheDir: true, markDir: true}

// Store keeps content under its digest: in a folder, in a bucket of an object store beside a folder for what is on its
// way, or in memory. Only one process may open a folder, and only one folder belongs to a bucket, unless they are opened as shared.
type Store struct {
	root  disk.Folder // no file system: in memory
	comes string      // the folder of content on its way in
	share bool        // other processes have the content as well
	log   *slog.Logger
	dirs  syncer
	whole contents

	sends    sends
	known    known // checksums of content
	recent   recent
	findings findings

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
	// open opens content for anyone who uses it, each block of which is verified. Content that is missing or of another size
	// is damaged.
	open(digest string, size int64) (io.ReadSeekCloser, error)
	// read opens content that is read once, from its beginning, and compared with its digest by anyone who reads it.
	read(ctx context.Context, digest string, size int64) (io.ReadCloser, error)
	// find returns the size of content in bytes and when it was last kept; NotFound if it is not there.
	find(ctx context.Context, digest string) (size int64, at time.Time, err error)
	// remove removes content; that it is not there is no error.
	remove(ctx context.Context, digest string) error
	// each calls fn with all content whose digest is after another, its size and when it was last kept, in the order of the
	// digests. It stops at the first error.
	each(ctx context.Context, after string, fn func(digest string, size int64, at time.Time) error) error
	// tidy removes what is not content and unused since a moment, and reports whether it is time to look for content
	// that is not needed.
	tidy(ctx context.Context, before time.Time) (due bool, err error)
}

// content serializes work on one digest.
type content struct {
	sync.Mutex
	users int
}

// Open opens the store in dir, which is made if missing; "" means memory.
func Open(dir string, log *slog.Logger) (*Store, error) { return OpenOn(disk.OS, dir, log) }

// OpenOn opens the store in a folder of a file system.
func OpenOn(files disk.FS, dir string, log *slog.Logger) (*Store, error) {
	return open(files, dir, false, log)
}

// OpenShared opens a store in a folder that several processes have at the same time.
func OpenShared(dir string, log *slog.Logger) (*Store, error) { return open(disk.OS, dir, true, log) }

func open(files disk.FS, dir string, share bool, log *slog.Logger) (*Store, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Store{log: log, comes: tempDir, share: share, busy: map[string]*content{}, findings: findings{found: make(chan struct{}, 1)}}
	if dir == "" {
		s.whole = &inMemory{s: s, all: map[string]kept{}}
		return s, nil
	}
	s.whole = folder{s}
	if err := makeFolder(files, dir); err != nil {
		return nil, unavailable(err)
	}
	s.root = disk.Folder{FS: files, Dir: dir}
	s.dirs.root = s.root
	if err := s.clean(); err != nil {
		return nil, unavailable(err)
	}
	return s, nil
}

// makeFolder makes dir, durably, if it is missing.
func makeFolder(files disk.FS, dir string) error {
	if _, err := files.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := files.MkdirAll(dir, dirMode); err != nil {
		return err
	}
	return files.SyncDir(filepath.Dir(dir))
}

// clean removes what earlier processes left unfinished.
func (s *Store) clean() error {
	left, err := s.root.ReadDir(tempDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if s.share {
		return s.cleanShared(left)
	}
	if err := s.root.RemoveAll(tempDir); err != nil {
		return err
	}
	if len(left) > 0 {
		s.log.Info("incomplete blobs removed", "count", len(left))
	}
	return errors.Join(s.root.MkdirAll(tempDir, dirMode), s.dirs.make(draftDir))
}

// cleanShared is clean for a folder that other processes have.
func (s *Store) cleanShared(left []fs.DirEntry) error {
	for _, e := range left {
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < leftover {
			continue // an error means that another process has removed it
		}
		if err := s.root.RemoveAll(path.Join(tempDir, e.Name())); err != nil {
			return err
		}
	}
	s.comes = path.Join(tempDir, rand.Text())
	return errors.Join(s.root.MkdirAll(s.comes, dirMode), s.dirs.make(draftDir))
}

// Close ends the use of the store. Content that was spooled and not kept is removed.
func (s *Store) Close() error {
	if s.root.FS == nil {
		return nil
	}
	s.mu.Lock()
	s.closing.Store(true)
	s.mu.Unlock()
	s.hashing.Wait()
	return s.root.RemoveAll(s.comes)
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

// Read opens content of size bytes that is read once, from its beginning, by anyone who copies all of it. The end is passed
// on only if the whole is what the digest says. Nothing else loses its place in memory for it.
func (s *Store) Read(ctx context.Context, digest string, size int64) (io.ReadCloser, error) {
	if !isDigest(digest) {
		return nil, malformed(digest)
	}
	r, err := s.whole.read(ctx, digest, size)
	if err != nil {
		return nil, err
	}
	return s.check(r, digest, size), nil
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
	return s.remove(ctx, digest)
}

func (s *Store) remove(ctx context.Context, digest string) error {
	if err := s.whole.remove(ctx, digest); err != nil {
		return err
	}
	s.dropSums(digest)
	s.Forget(digest)
	return nil
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
		err = s.remove(ctx, digest)
	}
	return err == nil, err
}

// Each calls fn with everything the store keeps, its bytes and when it was last kept, in the order of the digests. It
// stops at the first error.
func (s *Store) Each(ctx context.Context, fn func(digest string, size int64, at time.Time) error) error {
	return s.whole.each(ctx, "", fn)
}

// Content is what a list has of one content.
type Content struct {
	Digest string
	Size   int64 // in bytes
}

// After returns the first contents whose digests are after another, n of them at most.
func (s *Store) After(ctx context.Context, after string, n int) (out []Content, err error) {
	enough := errors.New("enough")
	err = s.whole.each(ctx, after, func(digest string, size int64, _ time.Time) error {
		if out = append(out, Content{digest, size}); len(out) == n {
			return enough
		}
		return nil
	})
	if errors.Is(err, enough) {
		err = nil
	}
	return out, err
}

// Old returns the content that was last kept before t, if it is time to look for it: an object store is asked a few times
// between t and now, a folder always. What else was begun before t and is unused goes.
func (s *Store) Old(ctx context.Context, t time.Time) (digests []string, err error) {
	due, err := s.whole.tidy(ctx, t)
	if err != nil || !due {
		return nil, err
	}
	err = s.whole.each(ctx, "", func(digest string, _ int64, at time.Time) error {
		if at.Before(t) {
			digests = append(digests, digest)
		}
		return nil
	})
	return digests, err
}

// Verify reads the content and compares it with its digest, and has its checksums known from then on. Missing content is
// NotFound, damaged content Internal.
func (s *Store) Verify(ctx context.Context, digest string) error {
	if !isDigest(digest) {
		return malformed(digest)
	}
	size, _, err := s.whole.find(ctx, digest)
	if err != nil {
		return err
	}
	return s.VerifyAs(ctx, digest, size, nil)
}

// VerifyAs verifies content that is known to have size bytes. It calls step with the number of bytes after each part of it
// was read, if step is not nil, and gives up if that fails.
func (s *Store) VerifyAs(ctx context.Context, digest string, size int64, step func(n int) error) error {
	r, err := s.Read(ctx, digest, size)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := drain(stepped{ctx, r, step}); err != nil {
		return err
	}
	s.Forget(digest)
	return nil
}

// Check verifies content as VerifyAs does, but by the checksums of its blocks where they are known, which takes a tenth of
// the time: it finds changed bytes, but not a file that was replaced together with its checksums.
func (s *Store) Check(ctx context.Context, digest string, size int64, step func(n int) error) error {
	of := s.findSums(digest, size)
	if of == nil || size <= blockSize {
		return s.VerifyAs(ctx, digest, size, step)
	}
	r, err := s.whole.read(ctx, digest, size)
	if err != nil {
		return err
	}
	defer r.Close()
	b := sendPool.Get().(*sendBlock)
	defer sendPool.Put(b)
	for at := int64(0); at < size; at += sendSize {
		p := b[:min(sendSize, size-at)]
		n, err := io.ReadFull(stepped{ctx, r, step}, p)
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return s.damaged(digest, "has %d bytes instead of %d", at+int64(n), size)
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return s.unreadable(digest, err)
		}
		if from, n := of.mismatch(p, at); n > 0 {
			return s.damaged(digest, isDamaged, from, from+n)
		}
	}
	s.Forget(digest)
	return nil
}

// stepped reports what is read.
type stepped struct {
	ctx  context.Context
	r    io.Reader
	step func(n int) error
}

// Read reads on.
func (s stepped) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if n > 0 && s.step != nil {
		if stop := s.step(n); stop != nil {
			return n, stop
		}
	}
	return n, err
}

// checked passes on what its reader holds, except for the end unless the whole is what its digest says.
type checked struct {
	s       *Store
	r       io.Reader
	h       *summer
	digest  string
	n, size int64
}

func (s *Store) check(r io.Reader, digest string, size int64) *checked {
	return &checked{s: s, r: r, h: newSummer(), digest: digest, size: size}
}

// Read reads on. Damaged content is Internal.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	_, _ = c.h.Write(p[:n])
	c.n += int64(n)
	switch ends := errors.Is(err, io.EOF); {
	case err != nil && !ends:
		return n, c.s.unreadable(c.digest, err)
	case c.n < c.size && !ends:
		return n, nil
	case c.n != c.size:
		return 0, c.s.damaged(c.digest, "has %d bytes instead of %d", c.n, c.size)
	}
	if n > 0 || c.size == 0 {
		if sum := c.h.digest(); sum != c.digest {
			return 0, c.s.damaged(c.digest, "is damaged, its actual digest is %s", sum)
		}
		if c.s.findSums(c.digest, c.size) == nil {
			c.s.recordSums(c.digest, c.size, c.h.sums())
		}
	}
	return n, err
}

// Close closes the reader, if it can be closed.
func (c *checked) Close() error {
	if r, ok := c.r.(io.Closer); ok {
		return r.Close()
	}
	return nil
}
