package blob

import (
	"context"
	"encoding"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"catena/storage/disk"
	"catena/storage/fault"
)

const (
	// draftDir holds files that come in pieces. They stay when the store is opened again.
	draftDir = "drafts"
	// sealed ends the name of a draft whose content has got its own name. It is not written
	// to any longer, even if nobody came to refer to that content.
	sealed = ".whole"
)

// Draft is a file that comes in pieces, in any order. Each is written once, where it belongs;
// what is final from the beginning on is hashed while others come; and in the end the file
// gets the name of its content without being read or written again. Pieces must not overlap.
type Draft struct {
	store *Store
	name  string

	mu     sync.Mutex
	hash   *summer // of what is hashed
	hashed int64
	final  int64 // bytes from the beginning on that will not change
	going  bool  // somebody hashes
	whole  *Blob // what Whole found, as long as nobody writes
}

// Draft returns the draft of a name, nil if the store is in memory or if other processes have it as well: those may not have the
// folder, and might write to what is hashed. What an earlier process had hashed of it (Hashed) need not be read again.
func (s *Store) Draft(name string, hashed int64, state []byte) *Draft {
	if s.root.FS == nil || s.share {
		return nil
	}
	d := &Draft{store: s, name: name, hash: newSummer()}
	if len(state) > 0 {
		if err := d.hash.Hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err == nil {
			d.hashed, d.final, d.hash.gap = hashed, hashed, true
		} else {
			d.hash = newSummer()
		}
	}
	return d
}

// Hashed returns how many bytes have been hashed, and the state of the hash after them.
func (d *Draft) Hashed() (int64, []byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	state, err := d.hash.Hash.(encoding.BinaryMarshaler).MarshalBinary()
	return d.hashed, state, err
}

func (d *Draft) path() string { return path.Join(draftDir, d.name) }

// Open prepares the draft for a piece; with create it is begun if there is none. It returns
// nil if the draft takes none any longer.
func (d *Draft) Open(create bool) (disk.File, error) {
	flag := os.O_RDWR
	if create {
		flag |= os.O_CREATE
	}
	f, err := d.store.root.OpenFile(d.path(), flag, fileMode)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unavailable(err)
	}
	d.mu.Lock()
	d.whole = nil
	d.mu.Unlock()
	if create {
		if err := d.store.dirs.sync(draftDir); err != nil {
			f.Close()
			return nil, unavailable(err)
		}
	}
	return f, nil
}

// Take writes a piece of size bytes to f, which Open returned, and returns once it is on disk.
func (d *Draft) Take(ctx context.Context, f disk.File, at, size int64, r io.Reader) (*Blob, error) {
	in := &input{ctx: ctx, name: d.name, r: r, max: size}
	n, err := fill(f, at, in, nil)
	if err == nil && n != size {
		err = fault.Invalid.Errorf("blob %s: content was interrupted: %d bytes of %d", d.name, n, size)
	}
	if err == nil {
		if err = f.Sync(); err != nil {
			err = unavailable(err)
		}
	}
	if closed := f.Close(); err == nil && closed != nil {
		err = unavailable(closed)
	}
	if err != nil {
		return nil, err
	}
	return d.Piece(at, size), nil
}

// Piece returns a handle to a part of the draft. It has no digest.
func (d *Draft) Piece(at, size int64) *Blob {
	return &Blob{Type: Unknown, Size: size, source: &piece{d, at, size}}
}

// Draft returns the draft that a blob is a piece of, nil for every other blob.
func (b *Blob) Draft() *Draft {
	if p, ok := b.source.(*piece); ok {
		return p.draft
	}
	return nil
}

// Final says that the bytes up to end will not change. They are hashed meanwhile.
func (d *Draft) Final(end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.final = max(d.final, end)
	if !d.going && d.hashed < d.final && d.store.begin() {
		d.going = true
		go d.follow()
	}
}

// follow hashes what is final.
func (d *Draft) follow() {
	defer d.store.hashing.Done()
	f, err := d.open()
	if err != nil {
		d.stopped()
		return
	}
	defer f.Close()
	b := blockPool.Get().(*block)
	defer blockPool.Put(b)
	for !d.store.closing.Load() {
		if more, err := d.step(f, b, true); err != nil || !more {
			if err != nil {
				d.stopped()
			}
			return
		}
	}
	d.stopped()
}

// stopped leaves what is not hashed to Whole.
func (d *Draft) stopped() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.going = false
}

// step hashes a block of what is final; more says that there was one.
func (d *Draft) step(f disk.File, b *block, follows bool) (more bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(blockSize, d.final-d.hashed)
	if n <= 0 {
		d.going = d.going && !follows
		return false, nil
	}
	if _, err := f.ReadAt(b[:n], d.hashed); err != nil {
		return false, fault.Internal.Errorf("draft %s: %w", d.name, err)
	}
	_, _ = d.hash.Write(b[:n])
	if d.hashed >= window {
		behind(f, d.hashed-window, n)
	}
	d.hashed += n
	return true, nil
}

// Whole returns the draft as a blob of size bytes, completed like by Spool. Nobody may write
// to it any longer. Keep makes content of it; Remove must be called once that is referred to.
func (d *Draft) Whole(ctx context.Context, name, typ string, size int64) (*Blob, error) {
	if b := d.known(name, size); b != nil {
		return b, nil
	}
	f, err := d.open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b := blockPool.Get().(*block)
	defer blockPool.Put(b)
	for more := true; more; {
		if more, err = d.step(f, b, false); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
	}
	h, at, err := d.clone()
	if err != nil {
		return nil, err
	}
	for at < size {
		n := min(blockSize, size-at)
		if _, err := f.ReadAt(b[:n], at); err != nil {
			return nil, fault.Internal.Errorf("draft %s: %w", d.name, err)
		}
		_, _ = h.Write(b[:n])
		at += n
	}
	n, err := f.ReadAt(b[:min(inline+1, size)], 0)
	if err != nil {
		return nil, fault.Internal.Errorf("draft %s: %w", d.name, err)
	}
	whole := &Blob{Name: name, Digest: h.digest(), Size: size, source: &grown{d}, sums: h.sums()}
	whole.Type, whole.Encoding = TypeOf(name, typ, b[:n])
	d.mu.Lock()
	defer d.mu.Unlock()
	d.whole = whole
	return whole, nil
}

// known returns what Whole found before, nil if that was something else.
func (d *Draft) known(name string, size int64) *Blob {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.whole == nil || d.whole.Name != name || d.whole.Size != size {
		return nil
	}
	return d.whole
}

// clone returns the hash of what is final, for what comes after it and may still change.
func (d *Draft) clone() (*summer, int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.hash.clone()
	return h, d.hashed, err
}
