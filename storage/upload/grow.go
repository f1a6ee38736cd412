package upload

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/disk"
	"catena/storage/fault"
	"catena/storage/internal/row"
)

// maxGrowing is the number of files in memory that nobody sends chunks of just now.
const maxGrowing = 1000

// growing are the files whose chunks are written where they belong. Those nobody uses are
// forgotten when there are many; what is known of them is in their rows.
type growing struct {
	mu    sync.Mutex
	files map[string]*grown // by key of their rows
}

func growingIn(r *storage.Repo) *growing { return row.Of[growing](r.Memory()) }

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

// Take takes a file or a chunk in from r, so that Put can put it into a batch: durable,
// and a chunk at its place in the file, if size, its bytes, is known and like that of others. More than max
// bytes are a Limit. done is to be called when Put has been, or will not be.
func Take(ctx context.Context, r *storage.Repo, as *storage.Principal, id string, p Part, in io.Reader, size, max int64) (b *storage.Blob, done func(), err error) {
	done = func() {}
	if p.growable(size) {
		if b, done, err = takeChunk(ctx, r, as, id, p, in, size); b != nil || err != nil {
			return b, done, err
		}
	}
	if b, err = r.Blobs().Spool(ctx, p.Name, p.Type, in, max); err != nil {
		return nil, done, err
	}
	return b, done, r.Blobs().Keep(ctx, b)
}

// growable reports whether the chunk may have a place that is known before others are there.
func (p Part) growable(size int64) bool {
	return p.Chunked && size > 0 && p.Count > 1 && p.Count <= maxChunks && p.Chunk >= 0 && p.Chunk < p.Count &&
		p.Index >= 0 && p.Index <= maxIndex
}

// takeChunk returns nil if the chunk has no place.
func takeChunk(ctx context.Context, r *storage.Repo, as *storage.Principal, id string, p Part, in io.Reader, size int64) (*storage.Blob, func(), error) {
	nothing := func() {}
	g, f, err := place(ctx, r, as, id, p, size)
	if g == nil || err != nil {
		return nil, nothing, err
	}
	b, err := g.draft.Load().Take(ctx, f, int64(p.Chunk)*g.part, size, in)
	if err != nil {
		growingIn(r).leave(g, p.Chunk)
		return nil, nothing, err
	}
	g.put.Lock()
	done := sync.OnceFunc(func() {
		g.put.Unlock()
		growingIn(r).leave(g, p.Chunk)
	})
	if err := g.keep(ctx, r, as, id, p, size); err != nil {
		done()
		return nil, nothing, err
	}
	return b, done, nil
}

// keep makes the file durable if the chunk is its last one to come: a file may be long, and what keeps it far away, but
// transactions are short.
func (g *grown) keep(ctx context.Context, r *storage.Repo, as *storage.Principal, id string, p Part, size int64) error {
	var u *File
	err := r.View(ctx, as, func(tx *storage.Tx) (err error) {
		u, err = find(tx, id, p.Index)
		return err
	})
	if err != nil || u == nil || u.row.Draft != g.name || u.row.There.has(p.Chunk) || u.row.There.count()+1 != u.Count {
		return err // Put says why, or there are more to come
	}
	row := *u.row
	if row.There = row.There.with(p.Chunk); p.Chunk == row.Count-1 {
		row.Last = size
	}
	whole, err := g.draft.Load().Whole(ctx, row.Name, row.Type, row.final())
	if fault.Is(err, fault.NotFound) {
		return nil // dropped meanwhile
	}
	if err != nil {
		return err
	}
	return r.Blobs().Keep(ctx, whole)
}

// place finds the file that a chunk of size bytes may be written to, which is the caller's until
// it leaves; nil if there is none.
func place(ctx context.Context, r *storage.Repo, as *storage.Principal, id string, p Part, size int64) (*grown, disk.File, error) {
	for range 2 {
		g := growingIn(r).enter(fileKey(id, p.Index))
		f, stale, err := g.enter(ctx, r, as, id, p, size)
		if f != nil {
			return g, f, nil
		}
		growingIn(r).leave(g, -1)
		if err != nil || !stale {
			return nil, nil, err
		}
		growingIn(r).forget(fileKey(id, p.Index), g)
	}
	return nil, nil, nil
}

// enter opens the file for a chunk. It is stale if its row has gone.
func (g *grown) enter(ctx context.Context, r *storage.Repo, as *storage.Principal, id string, p Part, size int64) (f disk.File, stale bool, err error) {
	g.put.Lock()
	defer g.put.Unlock()
	var u *File
	err = r.View(ctx, as, func(tx *storage.Tx) error {
		_, err := BatchOf(tx, id)
		if err == nil {
			u, err = find(tx, id, p.Index)
		}
		return err
	})
	if err != nil {
		return nil, false, err
	}
	name := ""
	if u != nil {
		if !u.Chunked || u.Complete() || u.Count != p.Count || u.has(p.Chunk) {
			return nil, false, nil // Put says why
		}
		name = u.row.Draft
	}
	switch {
	case g.begun && g.name != name:
		return nil, true, nil
	case !g.begun && name != "":
		g.name, g.part, g.begun = name, u.row.Part, true
		g.grow(r.Blobs().Draft(name, u.row.Hashed, u.row.State), u.row.final())
	case g.name == "" && p.Chunk < p.Count-1:
		g.name, g.part = draftName(r.NewID(), id, p.Index), size
		g.grow(r.Blobs().Draft(g.name, 0, nil), 0)
	}
	draft, last := g.draft.Load(), p.Chunk == p.Count-1
	if draft == nil || !last && size != g.part || int64(p.Chunk)*g.part+size > r.Limits().BlobSize || !g.take(p.Chunk) {
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
