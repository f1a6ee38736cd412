package blob

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"sync"

	"catena/storage/disk"
	"catena/storage/fault"
)

// inline is the size up to which spooled content stays in memory.
const inline = 64 << 10

var buffers = sync.Pool{New: func() any { return new([inline + 1]byte) }}

// Spool takes content in from r, in constant memory: small content is held in memory,
// larger in a temporary file that lives as long as the blob. More than max bytes are a
// Limit; max 0 means no limit. A type that is missing, application/octet-stream or
// malformed is found from name and content.
//
// Content that the store has and knows to be damaged is kept at once, which repairs it.
func (s *Store) Spool(ctx context.Context, name, typ string, r io.Reader, max int64) (*Blob, error) {
	b, err := s.spool(ctx, name, typ, r, max)
	if err == nil && s.isDamaged(b.Digest) {
		err = s.Keep(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func (s *Store) spool(ctx context.Context, name, typ string, r io.Reader, max int64) (*Blob, error) {
	in := &input{ctx: ctx, name: name, r: r, max: max}
	buf := buffers.Get().(*[inline + 1]byte)
	defer buffers.Put(buf)
	n, err := io.ReadFull(in, buf[:])
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return FromBytes(name, typ, bytes.Clone(buf[:n])), nil
	case err != nil:
		return nil, err
	case s.root.FS == nil:
		rest, err := io.ReadAll(in)
		if err != nil {
			return nil, err
		}
		return FromBytes(name, typ, append(bytes.Clone(buf[:]), rest...)), nil
	}
	b := &Blob{Name: name}
	b.Type, b.Encoding = TypeOf(name, typ, buf[:])
	if err := s.spoolFile(b, buf, in); err != nil {
		return nil, err
	}
	return b, nil
}

// input reads what a caller sends: with a bound, until the context ends, and with its
// errors marked.
type input struct {
	ctx  context.Context
	name string
	r    io.Reader
	n    int64
	max  int64
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.ctx.Err(); err != nil {
		return 0, fault.Unavailable.Errorf("blob %s: %w", in.name, err)
	}
	n, err := in.r.Read(p)
	in.n += int64(n)
	var known *fault.Error
	switch {
	case in.max > 0 && in.n > in.max:
		return 0, fault.Limit.Errorf("blob %s: more than %d bytes", in.name, in.max)
	case err == nil || err == io.EOF || errors.As(err, &known):
		return n, err
	case fault.Is(err, fault.Unavailable):
		return n, fault.Unavailable.Errorf("blob %s: %w", in.name, err)
	}
	return n, fault.Invalid.Errorf("blob %s: content was interrupted: %w", in.name, err)
}

// spoolFile writes what is in buf and what follows it to a temporary file.
func (s *Store) spoolFile(b *Blob, buf *[inline + 1]byte, in *input) error {
	f, name, err := s.temp()
	if err != nil {
		return unavailable(err)
	}
	h := newSummer()
	_, _ = h.Write(buf[:])
	if _, err = f.Write(buf[:]); err == nil {
		_, err = fill(f, int64(len(buf)), in, h)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	temp := temporary{s.root, name}
	if err != nil {
		temp.remove()
		var known *fault.Error
		if errors.As(err, &known) {
			return err
		}
		return unavailable(err)
	}
	b.Digest, b.Size, b.sums = h.digest(), in.n, h.sums()
	t := &spool{store: s, temp: temp}
	b.source = t
	runtime.AddCleanup(t, temporary.remove, temp)
	return nil
}

// temporary is a file for content on its way in.
type temporary struct {
	root disk.Folder
	name string
}

// remove removes the file. If that is not possible the next Open of the store does.
func (t temporary) remove() { _ = t.root.Remove(t.name) }

// spool is content in a temporary file. The file goes when nobody can reach the spool any
// longer; Keep renames it instead.
type spool struct {
	store *Store
	temp  temporary

	mu   sync.Mutex
	kept *stored
}

func (t *spool) open() (io.ReadSeekCloser, error) {
	f, err := t.openFile()
	switch {
	case err != nil:
		return nil, unavailable(err)
	case f == nil:
		return t.kept.open()
	}
	return f, nil
}

// openFile returns nil once the content is kept. To open that is not for who holds the lock: who keeps it has that of its
// digest first.
func (t *spool) openFile() (disk.File, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept != nil {
		return nil, nil
	}
	return t.temp.root.OpenRead(t.temp.name)
}

// settle has the file taken, which makes content of it, unless that has been done.
func (t *spool) settle(b *Blob, take func(name string) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept != nil {
		return fault.Internal.Errorf("blob %s: content was kept and then removed", b.Digest)
	}
	if err := take(t.temp.name); err != nil {
		return err
	}
	t.kept = &stored{t.store, b.Digest, b.Size}
	return nil
}

// drop gives up the file because the store has the content.
func (t *spool) drop(b *Blob) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = &stored{t.store, b.Digest, b.Size}
		t.temp.remove()
	}
}
