package blob

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"sync"
	"time"

	"catena/storage/disk"
	"catena/storage/fault"
)

const (
	// ownerName is the object that says which data directory the content belongs to.
	ownerName = "owner"
	// senders of content have a part of it each in memory.
	objectSenders = 8
	// sharedMark is how long content counts as just written for all processes that have the bucket.
	sharedMark = time.Hour
	// looks is how often a bucket is listed in the time that content stays which nobody needs.
	looks = 24
)

// Bucket is a part of an object store, such as package bucket knows. Names have no slash. Its errors are NotFound, Exists or
// Unavailable.
type Bucket interface {
	// At returns the address of an object.
	At(name string) string
	// Create makes a small object if there is none of the name.
	Create(ctx context.Context, name string, data []byte) error
	// EachAfter calls fn with the objects whose names are after another, in order.
	EachAfter(ctx context.Context, after string, fn func(name string, size int64, modified time.Time) error) error
	// Open opens an object that is read whole.
	Open(ctx context.Context, name string) (io.ReadCloser, error)
	// Put makes an object of size bytes, which is durable once Put returns.
	Put(ctx context.Context, name string, r io.Reader, size int64) error
	// Reader returns a reader of an object of size bytes, which is opened when it is read.
	Reader(ctx context.Context, name string, size int64) ObjectReader
	// Ready removes what writes that were interrupted before a moment have left.
	Ready(ctx context.Context, before time.Time) error
	// Remove removes an object. It succeeds if there is none.
	Remove(ctx context.Context, name string) error
	// Stat returns the size of an object in bytes, and when it was written.
	Stat(ctx context.Context, name string) (size int64, modified time.Time, err error)
}

// ObjectReader reads an object in any order. It is an alias, so that an object store needs no import of this package.
type ObjectReader = interface {
	io.ReadSeekCloser
	// Begin asks for what is read next, so that one that is not there is seen now.
	Begin() error
	// Expect says that n bytes will be read from where the reader is.
	Expect(n int64)
}

// Objects says in which object store content is.
type Objects struct {
	Bucket Bucket
	// Owner is what the bucket knows the data directory by. What one server does not need it removes, so that two must
	// not have the same bucket.
	Owner string
	// New says that nothing is kept there yet for the owner.
	New bool
	// Shared says that several processes have the bucket, each with a folder of its own.
	Shared bool
	// Cache is how many bytes of content are kept in the folder as well.
	Cache int64
}

// OpenObjects opens a store whose content is in a bucket, and whose folder dir has what is on its way and what was read lately.
// A bucket that does not answer is Unavailable; one that belongs to somebody else, or has nothing of the owner, a Conflict.
func OpenObjects(ctx context.Context, dir string, in Objects, log *slog.Logger) (*Store, error) {
	s, err := Open(dir, log)
	if err != nil {
		return nil, err
	}
	s.share = in.Shared
	o := &objects{s: s, in: in.Bucket, cache: cache{s: s, most: in.Cache}, sends: make(chan struct{}, objectSenders)}
	s.whole = o
	if err := o.start(ctx, in); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Owner returns what a bucket knows the data directory by that it belongs to, "" if it belongs to none.
func Owner(ctx context.Context, b Bucket) (string, error) {
	r, err := b.Open(ctx, ownerName)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer r.Close()
	owner, err := io.ReadAll(io.LimitReader(r, 1024))
	return string(owner), err
}

// objects is content in objects named by their digest. A file of that name in the folder markDir says when it was last kept,
// if that is after it was written: what is there already is not written again. Nothing else ages content, so that it does not matter
// what the object store has for time, as long as that is not far ahead.
type objects struct {
	s     *Store
	in    Bucket
	cache cache
	sends chan struct{}

	mu     sync.Mutex
	listed time.Time
}

func (o *objects) start(ctx context.Context, in Objects) error {
	if err := o.claim(ctx, in); err != nil {
		return err
	}
	interrupted := time.Now() // if this process is the only one that writes, everything that is not complete
	if in.Shared {
		interrupted = interrupted.Add(-leftover)
	}
	if err := o.in.Ready(ctx, interrupted); err != nil {
		return err
	}
	if err := errors.Join(o.s.dirs.make(markDir), o.s.dirs.make(cacheDir)); err != nil {
		return unavailable(err)
	}
	return o.cache.load()
}

// claim makes sure that the bucket is the owner's.
func (o *objects) claim(ctx context.Context, in Objects) error {
	owner, err := Owner(ctx, o.in)
	if err == nil && owner == "" && in.New {
		err = o.in.Create(ctx, ownerName, []byte(in.Owner))
		if err == nil || !fault.Is(err, fault.Exists) {
			return err
		}
		owner, err = Owner(ctx, o.in) // somebody was faster
	}
	switch {
	case err != nil:
		return err
	case owner == "":
		return fault.Conflict.Errorf("%s: does not exist, so this is not the content store of this data directory", o.in.At(ownerName))
	case owner != in.Owner:
		return fault.Conflict.Errorf("%s: belongs to another data directory; if that no longer exists, remove the object", o.in.At(ownerName))
	}
	return nil
}

func (o *objects) renew(ctx context.Context, digest string, size int64) (bool, error) {
	if err := o.s.mark(digest); err != nil {
		return false, err
	}
	found, _, err := o.in.Stat(ctx, digest)
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil && found == size, o.failed(ctx, digest, err)
}

// aged reports whether other processes take content for old, because they do not see the mark of this one.
func (o *objects) aged(ctx context.Context, digest string) (bool, error) {
	_, written, err := o.in.Stat(ctx, digest)
	return time.Since(written) > sharedMark, o.failed(ctx, digest, err)
}

func (o *objects) take(ctx context.Context, b *Blob) error {
	switch c := b.source.(type) {
	case *spool:
		if c.store == o.s {
			return c.settle(b, func(name string) error {
				if err := o.send(ctx, b, func() (io.ReadSeekCloser, error) { return o.s.root.OpenRead(name) }); err != nil {
					return err
				}
				if !o.cache.adopt(name, b.Digest, b.Size) {
					c.temp.remove()
				}
				return nil
			})
		}
	case *grown:
		if c.draft.store == o.s {
			if _, err := c.seal(b.Size); err != nil {
				return err
			}
		}
	}
	return o.send(ctx, b, b.Open)
}

// send has the bucket take the content, which is read as it is sent, and refused if it is not what its digest says.
func (o *objects) send(ctx context.Context, b *Blob, open func() (io.ReadSeekCloser, error)) error {
	select {
	case o.sends <- struct{}{}:
		defer func() { <-o.sends }()
	case <-ctx.Done():
		return ctx.Err()
	}
	r, err := open()
	if err != nil {
		var known *fault.Error
		if !errors.As(err, &known) {
			err = unavailable(err)
		}
		return err
	}
	defer r.Close()
	err = o.in.Put(ctx, b.Digest, o.s.check(r, b.Digest, b.Size), b.Size)
	if DamageIn(err) != nil {
		o.s.Forget(b.Digest) // the bucket has nothing of it
	}
	return o.failed(ctx, b.Digest, err)
}

// open returns content from the cache or from the bucket, whose checksums are verified block by block as it is read. If the copy in
// the cache is damaged, reading continues from the bucket, and the copy is removed.
func (o *objects) open(digest string, size int64) (io.ReadSeekCloser, error) {
	ctx := context.Background() // a reader's own: anyone who opens content may keep it
	v := &verified{s: o.s, digest: digest, size: size}
	if o.cache.fits(size) {
		f, err := o.cached(ctx, digest, size)
		if err != nil {
			return nil, err
		}
		if f != nil {
			v.in = f
			v.other = func() blocksOf {
				o.cache.remove(digest)
				return o.reader(ctx, digest, size)
			}
		}
	}
	if v.in == nil {
		if err := o.there(ctx, digest, size); err != nil {
			return nil, err
		}
		v.in = o.reader(ctx, digest, size)
	}
	var err error
	if v.sums, err = o.s.sumsOf(digest, size, func() (io.ReadCloser, error) { return o.read(ctx, digest, size) }); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// there makes sure that content is in the bucket, as far as can be seen without reading it.
func (o *objects) there(ctx context.Context, digest string, size int64) error {
	found, _, err := o.in.Stat(ctx, digest)
	switch {
	case fault.Is(err, fault.NotFound):
		return o.s.missing(digest)
	case err != nil:
		return o.failed(ctx, digest, err)
	case found != size:
		return o.s.damaged(digest, "has %d bytes instead of %d", found, size)
	}
	return nil
}

// cached opens content in the cache, which is filled if need be: what is read from there is what the digest says, and
// anyone who goes to and fro in it does not ask the bucket for every step. It returns nil if there is no room for it.
func (o *objects) cached(ctx context.Context, digest string, size int64) (disk.File, error) {
	if f := o.cache.open(digest, size); f != nil {
		return f, nil
	}
	defer o.s.lock(digest)()
	if f := o.cache.open(digest, size); f != nil {
		return f, nil // filled meanwhile
	}
	f, name, err := o.s.temp()
	if err != nil {
		return nil, nil
	}
	defer temporary{o.s.root, name}.remove()
	r := o.reader(ctx, digest, size)
	defer func() { _ = r.Close() }()
	r.Expect(size)
	_, err = io.Copy(f, o.s.check(r, digest, size))
	if closed := f.Close(); err == nil {
		err = closed
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return nil, err
	}
	if err != nil || !o.cache.adopt(name, digest, size) {
		return nil, nil
	}
	return o.cache.open(digest, size), nil
}

func (o *objects) read(ctx context.Context, digest string, size int64) (io.ReadCloser, error) {
	r := o.reader(ctx, digest, size)
	r.Expect(size)
	return r, r.told(r.Begin())
}

func (o *objects) reader(ctx context.Context, digest string, size int64) *object {
	return &object{o.in.Reader(ctx, digest, size), o, digest}
}

// object reads content in the bucket.
type object struct {
	ObjectReader
	o      *objects
	digest string
}

// Read reads on.
func (r *object) Read(p []byte) (int, error) {
	n, err := r.ObjectReader.Read(p)
	return n, r.told(err)
}

// ReadAt reads as io.ReaderAt has it, but one call after the other.
func (r *object) ReadAt(p []byte, at int64) (int, error) {
	if _, err := r.Seek(at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// expect says that the content is read from one place to another.
func (r *object) expect(from, to int64) {
	if _, err := r.Seek(from, io.SeekStart); err == nil {
		r.Expect(to - from)
	}
}

func (r *object) told(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case fault.Is(err, fault.NotFound):
		return r.o.s.missing(r.digest)
	case fault.Is(err, fault.Internal):
		return r.o.s.damaged(r.digest, "is damaged: %v", err)
	}
	return r.o.failed(context.Background(), r.digest, err)
}

func (o *objects) find(ctx context.Context, digest string) (int64, time.Time, error) {
	size, modified, err := o.in.Stat(ctx, digest)
	if fault.Is(err, fault.NotFound) {
		return 0, time.Time{}, fault.NotFound.Errorf("blob %s", digest)
	}
	return size, o.s.kept(digest, modified), o.failed(ctx, digest, err)
}

func (o *objects) remove(ctx context.Context, digest string) error {
	if err := o.in.Remove(ctx, digest); err != nil {
		return o.failed(ctx, digest, err)
	}
	o.cache.remove(digest)
	return o.s.unmark(digest)
}

func (o *objects) each(ctx context.Context, after string, fn func(digest string, size int64, at time.Time) error) error {
	return o.in.EachAfter(ctx, after, func(name string, size int64, modified time.Time) error {
		if !isDigest(name) {
			return nil
		}
		return fn(name, size, o.s.kept(name, modified))
	})
}

// tidy removes what sendings that were interrupted have left, and marks that say no more than the objects do.
func (o *objects) tidy(ctx context.Context, before time.Time) (bool, error) {
	now := time.Now()
	o.mu.Lock()
	due := now.Sub(o.listed) >= now.Sub(before)/looks
	if due {
		o.listed = now
	}
	o.mu.Unlock()
	if !due {
		return false, nil
	}
	return true, errors.Join(o.in.Ready(ctx, before), o.s.forget(before))
}

// failed is an error of the bucket as clients may see it: where it is stands in the log alone.
func (o *objects) failed(ctx context.Context, digest string, err error) error {
	if !fault.Is(err, fault.Unavailable) || ctx.Err() != nil {
		return err
	}
	o.s.log.LogAttrs(ctx, slog.LevelWarn, "object store", slog.String("digest", digest), slog.Any("error", err))
	return &fault.Error{Kind: fault.Unavailable, Message: "blob " + digest + ": the object store does not respond, or refuses", Err: err}
}

// Ping reports whether the object store answers, if there is one.
func (s *Store) Ping(ctx context.Context) error {
	o, ok := s.whole.(*objects)
	if !ok {
		return nil
	}
	_, _, err := o.in.Stat(ctx, ownerName)
	return err
}

// Leave removes what the folder has of content in a bucket, for a data directory whose content is there no more.
func (s *Store) Leave() error {
	return errors.Join(s.root.RemoveAll(cacheDir), s.root.RemoveAll(markDir))
}

// markDir has a file for all content that was kept lately; when, is the time of the file.
const markDir = "kept"

// mark notes durably that content is kept now.
func (s *Store) mark(digest string) error {
	at, now := path.Join(markDir, digest), time.Now()
	err := s.root.Chtimes(at, now, now)
	if errors.Is(err, fs.ErrNotExist) {
		var f disk.File
		if f, err = s.root.OpenFile(at, os.O_WRONLY|os.O_CREATE, fileMode); err == nil {
			err = f.Close()
		}
	}
	if err == nil {
		err = s.dirs.sync(markDir)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// kept returns when content was last kept that was written at a moment.
func (s *Store) kept(digest string, written time.Time) time.Time {
	if info, err := s.root.Stat(path.Join(markDir, digest)); err == nil && info.ModTime().After(written) {
		return info.ModTime()
	}
	return written
}

func (s *Store) unmark(digest string) error {
	if err := s.root.Remove(path.Join(markDir, digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unavailable(err)
	}
	return nil
}

// forget removes the marks from before a moment.
func (s *Store) forget(before time.Time) error {
	all, err := s.root.ReadDir(markDir)
	if err != nil {
		return unavailable(err)
	}
	for _, e := range all {
		if info, err := e.Info(); err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := s.forgetOne(e.Name(), before); err != nil {
			return err
		}
	}
	return nil
}

// forgetOne looks again, as the content may be kept just now.
func (s *Store) forgetOne(digest string, before time.Time) error {
	defer s.lock(digest)()
	if info, err := s.root.Stat(path.Join(markDir, digest)); err != nil || !info.ModTime().Before(before) {
		return nil
	}
	return s.unmark(digest)
}
