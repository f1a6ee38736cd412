package upload

import (
	"context"
	"errors"
	"io"
	"slices"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// ahead is a file that was put together before the transaction of its last chunk.
type ahead struct {
	chunks []string // digests
	whole  *storage.Blob
}

// lacksOnly reports whether a chunk is the last one that the file lacks.
func (u *File) lacksOnly(p Part) bool {
	return !u.Complete() && u.Count == p.Count && p.Chunk >= 0 && p.Chunk < u.Count && len(u.Chunks)+1 == u.Count && !u.has(p.Chunk)
}

// joinAhead puts a file together, and makes it durable, if a chunk is the last one to arrive. This is done outside of a transaction,
// because a file may be long and its store far away. The caller forgets it once the chunk is in the batch.
func joinAhead(ctx context.Context, r *storage.Repo, as *storage.Principal, in *Incoming, last *storage.Blob) (forget func(), err error) {
	var parts []*storage.Blob
	var u *File
	err = r.View(ctx, as, func(tx *storage.Tx) (err error) {
		parts = nil
		if u, err = find(tx, in.Batch, in.Part.Index); err != nil || u == nil {
			return err
		}
		if !u.lacksOnly(in.Part) {
			return nil // Put says why, or there are more to come
		}
		parts, err = partsOf(tx, u, in.Part, last)
		return err
	})
	if err != nil || slices.Contains(digests(parts), "") || parts == nil { // what is in a draft has no digest
		return func() {}, err
	}
	whole, err := spool(ctx, r, u, parts)
	if err == nil {
		err = r.Blobs().Keep(ctx, whole)
	}
	if err != nil {
		return func() {}, err
	}
	g, key := growingIn(r), fileKey(in.Batch, in.Part.Index)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ahead == nil {
		g.ahead = map[string]*ahead{}
	}
	mine := &ahead{digests(parts), whole}
	g.ahead[key] = mine
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.ahead[key] == mine {
			delete(g.ahead, key)
		}
	}, nil
}

// join writes a file again from its chunks, unless that has been done.
func join(tx *storage.Tx, u *File, p Part, last *storage.Blob) (*storage.Blob, error) {
	parts, err := partsOf(tx, u, p, last)
	if err != nil {
		return nil, err
	}
	g := growingIn(tx.Repo())
	g.mu.Lock()
	done := g.ahead[fileKey(u.Batch, u.Index)]
	g.mu.Unlock()
	if done != nil && slices.Equal(done.chunks, digests(parts)) {
		return done.whole, nil
	}
	return spool(tx.Context(), tx.Repo(), u, parts)
}

// partsOf returns the chunks of a file of which one is not in its batch yet.
func partsOf(tx *storage.Tx, u *File, p Part, last *storage.Blob) ([]*storage.Blob, error) {
	row := u.row
	parts := make([]*storage.Blob, u.Count)
	d := tx.Repo().Blobs().Draft(row.Draft, 0, nil)
	for i := range parts {
		if !row.There.has(i) {
			continue
		}
		if d == nil {
			return nil, fault.Conflict.Errorf("batch %s: file %d: chunk %d was received by a server that no longer has it; upload the file again", u.Batch, u.Index, i)
		}
		parts[i] = d.Piece(int64(i)*row.Part, row.size(i))
	}
	for i, c := range chunks(tx, u) {
		parts[i] = hold.Load(tx, storage.Blob{Digest: c.Digest, Size: c.Size})
	}
	parts[p.Chunk] = last
	return parts, tx.Err()
}

// digests are those of chunks, empty of those in a draft.
func digests(parts []*storage.Blob) (out []string) {
	for _, b := range parts {
		out = append(out, b.Digest)
	}
	return out
}

// spool writes chunks one after the other.
func spool(ctx context.Context, r *storage.Repo, u *File, parts []*storage.Blob) (*storage.Blob, error) {
	in := &joined{ctx: ctx, parts: parts}
	defer func() { _ = in.Close() }()
	return r.Blobs().Spool(ctx, u.row.Name, u.row.Type, in, r.Limits().BlobSize)
}

// joined reads files one after the other, with one of them open at a time.
type joined struct {
	ctx   context.Context //nolint:containedctx // of the one reading
	parts []*storage.Blob
	now   io.ReadCloser
}

func (j *joined) Read(p []byte) (int, error) {
	for {
		if j.now == nil {
			if len(j.parts) == 0 {
				return 0, io.EOF
			}
			if err := j.ctx.Err(); err != nil {
				return 0, err
			}
			r, err := j.parts[0].Open()
			if err != nil {
				return 0, err
			}
			j.now, j.parts = r, j.parts[1:]
		}
		n, err := j.now.Read(p)
		switch {
		case n > 0 && errors.Is(err, io.EOF):
			return n, nil
		case n > 0 || !errors.Is(err, io.EOF):
			return n, err
		}
		if err := j.Close(); err != nil {
			return 0, err
		}
	}
}

// Close closes the file that is open.
func (j *joined) Close() error {
	if j.now == nil {
		return nil
	}
	r := j.now
	j.now = nil
	return r.Close()
}
