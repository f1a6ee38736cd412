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
	ahead map[string]*ahead // likewise
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

// Incoming is a file or a chunk that arrives for a batch.
type Incoming struct {
	Batch string
	Part  Part
	Body  io.Reader
	Size  int64 // bytes of the body; -1: unknown
	Max   int64 // bytes that the body may have
}

// Take stores a file or a chunk, so that Put can put it into a batch: durable,
// and a chunk at its offset in the file, if its size is known and the same as that of the others. More than Max
// bytes are a Limit. done must be called when Put has been, or will not be.
func Take(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming) (b *storage.Blob, done func(), err error) {
	done = func() {}
	if in.Part.growable(in.Size) {
		if b, done, err = takeChunk(ctx, r, as, in); b != nil || err != nil {
			return b, done, err
		}
	}
	if b, err = r.Blobs().Spool(ctx, in.Part.Name, in.Part.Type, in.Body, in.Max); err != nil {
		return nil, done, err
	}
	if err = r.Blobs().Keep(ctx, b); err == nil && in.Part.Chunked {
		done, err = joinAhead(ctx, r, as, in, b)
	}
	return b, done, err
}

// growable reports whether the chunk may have a place that is known before others are there.
func (p Part) growable(size int64) bool {
	return p.Chunked && size > 0 && p.Count > 1 && p.Count <= maxChunks && p.Chunk >= 0 && p.Chunk < p.Count &&
		p.Index >= 0 && p.Index <= maxIndex
}

// takeChunk writes a chunk where it belongs; nil if its offset cannot be known yet.
func takeChunk(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming) (*storage.Blob, func(), error) {
	nothing := func() {}
	g, f, err := growingFile(ctx, r, as, in)
	if g == nil || err != nil {
		return nil, nothing, err
	}
	chunk := in.Part.Chunk
	b, err := g.draft.Load().Take(ctx, f, int64(chunk)*g.part, in.Size, in.Body)
	if err != nil {
		growingIn(r).leave(g, chunk)
		return nil, nothing, err
	}
	g.put.Lock()
	done := sync.OnceFunc(func() {
		g.put.Unlock()
		growingIn(r).leave(g, chunk)
	})
	if err := g.keep(ctx, r, as, in); err != nil {
		done()
		return nil, nothing, err
	}
	return b, done, nil
}

// keep makes the file durable if the chunk is the last one to arrive. This is done outside of a transaction, because a
// file may be long and its store far away.
func (g *grown) keep(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming) error {
	var u *File
	err := r.View(ctx, as, func(tx *storage.Tx) (err error) {
		u, err = find(tx, in.Batch, in.Part.Index)
		return err
	})
	chunk := in.Part.Chunk
	if err != nil || u == nil || u.row.Draft != g.name || u.row.There.has(chunk) || u.row.There.count()+1 != u.Count {
		return err // Put says why, or there are more to come
	}
	row := *u.row
	if row.There = row.There.with(chunk); chunk == row.Count-1 {
		row.Last = in.Size
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

// growingFile finds the file that a chunk may be written to, which the caller uses until
// it leaves; nil if there is none.
func growingFile(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming) (*grown, disk.File, error) {
	key := fileKey(in.Batch, in.Part.Index)
	for range 2 {
		g := growingIn(r).enter(key)
		f, stale, err := g.enter(ctx, r, as, in)
		if f != nil {
			return g, f, nil
		}
		growingIn(r).leave(g, -1)
		if err != nil || !stale {
			return nil, nil, err
		}
		growingIn(r).forget(key, g)
	}
	return nil, nil, nil
}

// enter opens the file for a chunk. It is stale if its row has gone.
func (g *grown) enter(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming) (f disk.File, stale bool, err error) {
	g.put.Lock()
	defer g.put.Unlock()
	var u *File
	err = r.View(ctx, as, func(tx *storage.Tx) error {
		_, err := BatchOf(tx, in.Batch)
		if err == nil {
			u, err = find(tx, in.Batch, in.Part.Index)
		}
		return err
	})
	p := in.Part
	if err != nil || u != nil && (!u.Chunked || u.Complete() || u.Count != p.Count || u.has(p.Chunk)) {
		return nil, false, err // without an error, Put says why
	}
	if stale = g.adopt(r, u, in); stale {
		return nil, true, nil
	}
	draft, last := g.draft.Load(), p.Chunk == p.Count-1
	if draft == nil || !last && in.Size != g.part || int64(p.Chunk)*g.part+in.Size > r.Limits().BlobSize || !g.take(p.Chunk) {
		return nil, false, nil
	}
	f, err = draft.Open(!g.begun)
	if f == nil {
		g.give(p.Chunk)
	}
	return f, false, err
}

// adopt continues the file of a row, or begins one with the first chunk, whose size is that of all but the last. It reports
// whether the file in memory is stale: that of a row which has been deleted or replaced.
func (g *grown) adopt(r *storage.Repo, u *File, in *Incoming) (stale bool) {
	name := ""
	if u != nil {
		name = u.row.Draft
	}
	switch {
	case g.begun && g.name != name:
		return true
	case !g.begun && name != "":
		g.name, g.part, g.begun = name, u.row.Part, true
		g.grow(r.Blobs().Draft(name, u.row.Hashed, u.row.State), u.row.final())
	case g.name == "" && in.Part.Chunk < in.Part.Count-1:
		g.name, g.part = draftName(r.NewID(), in.Batch, in.Part.Index), in.Size
		g.grow(r.Blobs().Draft(g.name, 0, nil), 0)
	}
	return false
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

// forget makes others begin again.
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
