package storage

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/blob"
)

// maxGrowing is the number of files in memory that nobody sends chunks of just now.
const maxGrowing = 1000

// growing are the files whose chunks are written where they belong. Those nobody uses are
// forgotten when there are many; what is known of them is in their rows.
type growing struct {
	mu    sync.Mutex
	files map[string]*grown // by key of their rows
}

// grown is a file that grows.
type grown struct {
	name  string
	part  int64 // bytes of every chunk but the last
	draft atomic.Pointer[blob.Draft]
	users int // under the lock of growing

	put   sync.Mutex // one after the other: what is written to the row, and begun
	begun bool       // a row has it

	mu   sync.Mutex
	busy map[int]bool // chunks that are coming in
}

// TakePart takes a file or a chunk in from r, so that PutUpload can put it into a batch: durable,
// and a chunk at its place in the file, if size, its bytes, is known and like that of others. More than max
// bytes are a Limit. done is to be called when PutUpload has been, or will not be.
func (r *Repo) TakePart(ctx context.Context, as *Principal, id string, p Part, in io.Reader, size, max int64) (b *Blob, done func(), err error) {
	done = func() {}
	if p.growable(size) {
		if b, done, err = r.takeChunk(ctx, as, id, p, in, size); b != nil || err != nil {
			return b, done, err
		}
	}
	if b, err = r.blobs.Spool(ctx, p.Name, p.Type, in, max); err != nil {
		return nil, done, err
	}
	return b, done, r.blobs.Keep(b)
}

// growable reports whether the chunk may have a place that is known before others are there.
func (p Part) growable(size int64) bool {
	return p.Chunked && size > 0 && p.Count > 1 && p.Count <= maxChunks && p.Chunk >= 0 && p.Chunk < p.Count &&
		p.Index >= 0 && p.Index <= maxIndex
}

// takeChunk returns nil if the chunk has no place.
func (r *Repo) takeChunk(ctx context.Context, as *Principal, id string, p Part, in io.Reader, size int64) (*Blob, func(), error) {
	nothing := func() {}
	g, f, err := r.place(ctx, as, id, p, size)
	if g == nil || err != nil {
		return nil, nothing, err
	}
	b, err := g.draft.Load().Take(ctx, f, int64(p.Chunk)*g.part, size, in)
	if err != nil {
		r.growing.leave(g, p.Chunk)
		return nil, nothing, err
	}
	g.put.Lock()
	return b, sync.OnceFunc(func() {
		g.put.Unlock()
		r.growing.leave(g, p.Chunk)
	}), nil
}

// place finds the file that a chunk of size bytes may be written to, which is the caller's until
// it leaves; nil if there is none.
func (r *Repo) place(ctx context.Context, as *Principal, id string, p Part, size int64) (*grown, *os.File, error) {
	for range 2 {
		g := r.growing.enter(fileKey(id, p.Index))
		f, stale, err := r.enter(ctx, as, g, id, p, size)
		if f != nil {
			return g, f, nil
		}
		r.growing.leave(g, -1)
		if err != nil || !stale {
			return nil, nil, err
		}
		r.growing.forget(fileKey(id, p.Index), g)
	}
	return nil, nil, nil
}

// enter opens the file for a chunk. It is stale if its row has gone.
func (r *Repo) enter(ctx context.Context, as *Principal, g *grown, id string, p Part, size int64) (f *os.File, stale bool, err error) {
	g.put.Lock()
	defer g.put.Unlock()
	var u *Upload
	err = r.View(ctx, as, func(t *Tx) error {
		_, err := t.Batch(id)
		if err == nil {
			u, err = t.findUpload(id, p.Index)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	name := ""
	if u != nil {
		if !u.Chunked || u.Complete() || u.Count != p.Count || u.has(p.Chunk) {
			return nil, false, nil // PutUpload says why
		}
		name = u.row.Draft
	}
	switch {
	case g.begun && g.name != name:
		return nil, true, nil
	case !g.begun && name != "":
		g.name, g.part, g.begun = name, u.row.Part, true
		g.grow(r.blobs.Draft(name, u.row.Hashed, u.row.State), u.row.final())
	case g.name == "" && p.Chunk < p.Count-1:
		g.name, g.part = draftName(r.newID(), id, p.Index), size
		g.grow(r.blobs.Draft(g.name, 0, nil), 0)
	}
	draft, last := g.draft.Load(), p.Chunk == p.Count-1
	if draft == nil || !last && size != g.part || int64(p.Chunk)*g.part+size > r.limits.BlobSize || !g.take(p.Chunk) {
		return nil, false, nil
	}
	f, err = draft.Open(!g.begun)
	if f == nil {
		g.give(p.Chunk)
	}
	return f, false, err
}

// grow begins with a draft, of which a part is final; nil if the store has none.
func (g *grown) grow(d *blob.Draft, final int64) {
	if d != nil {
		d.Final(final)
		g.draft.Store(d)
	}
}

func (g *grown) take(chunk int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy[chunk] {
		return false
	}
	g.busy[chunk] = true
	return true
}

func (g *grown) give(chunk int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.busy, chunk)
}

func (s *growing) enter(key string) *grown {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.files[key]
	if g == nil {
		for k, g := range s.files {
			if len(s.files) < maxGrowing {
				break
			}
			if g.users == 0 {
				delete(s.files, k)
			}
		}
		g = &grown{busy: map[int]bool{}}
		if s.files == nil {
			s.files = map[string]*grown{}
		}
		s.files[key] = g
	}
	g.users++
	return g
}

// leave gives a chunk up; -1 is none.
func (s *growing) leave(g *grown, chunk int) {
	g.give(chunk)
	s.mu.Lock()
	defer s.mu.Unlock()
	g.users--
}

// forget makes others begin anew.
func (s *growing) forget(key string, g *grown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[key] == g {
		delete(s.files, key)
	}
}

// of returns the file that a draft belongs to; nil if it has been forgotten.
func (s *growing) of(key string, d *blob.Draft) *grown {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.files[key]; g != nil && g.draft.Load() == d {
		return g
	}
	return nil
}

// draftName is the name of a file that grows; fileOf reads which row it belongs to.
func draftName(unique, batch string, index int) string {
	return fmt.Sprintf("%s.%d.%s", unique, index, batch)
}

func fileOf(draft string) (batch string, index int, ok bool) {
	_, rest, _ := strings.Cut(draft, ".")
	number, batch, found := strings.Cut(rest, ".")
	index, err := strconv.Atoi(number)
	return batch, index, found && err == nil
}

// sweepDrafts removes files that are not growing any more.
func (r *Repo) sweepDrafts(ctx context.Context) error {
	before := time.Now().Add(-r.grace) // the clock that files are stamped by
	return r.blobs.Drafts(func(name string, _ int64, mod time.Time) error {
		if !mod.Before(before) {
			return ctx.Err()
		}
		needed := false
		err := r.View(ctx, r.System(), func(t *Tx) error {
			id, index, ok := fileOf(name)
			if !ok {
				return nil
			}
			u, err := t.findUpload(id, index)
			needed = u != nil && u.row.Draft == name
			return err
		})
		if err != nil || needed {
			return err
		}
		return r.blobs.RemoveDraft(name)
	})
}
