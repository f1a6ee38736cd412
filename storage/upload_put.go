package storage

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"catena/storage/fault"
)

// PutUpload takes a file or a chunk into a batch. A file without chunks replaces one of its
// number; a chunk that is there already is refused. With its last chunk a file is put
// together.
func (t *Tx) PutUpload(id string, p Part, b *Blob) (*Upload, error) {
	batch, err := t.Batch(id)
	if err != nil {
		return nil, err
	}
	if p.Index < 0 || p.Index > maxIndex {
		return nil, fault.Invalid.Errorf("file index %d: not between 0 and %d", p.Index, maxIndex).In("fileIdx")
	}
	if batch.Expires.Sub(t.now) < uploadKept-uploadRenew {
		batch.Expires = t.now.Add(uploadKept)
		if err := t.uploads().Put(batchKey(id), batch); err != nil {
			return nil, err
		}
	}
	u, err := t.findUpload(id, p.Index)
	if err != nil {
		return nil, err
	}
	if u == nil {
		if err := t.roomFor(id); err != nil {
			return nil, err
		}
	}
	if err := t.use(batch.Owner, b.Size); err != nil {
		return nil, err
	}
	if p.Chunked {
		return t.putChunk(id, u, p, b)
	}
	return t.putFile(batch, u, p, b)
}

// roomFor checks that the batch may have one more file.
func (t *Tx) roomFor(id string) error {
	n := 0
	for range t.uploads().Scan(filesKey(id), below(filesKey(id)), false, maxFiles) {
		n++
	}
	if n >= maxFiles {
		return fault.Limit.Errorf("batch %s: more than %d files", id, maxFiles).WithCode("upload-files")
	}
	return t.failed
}

func (t *Tx) putFile(batch *Batch, old *Upload, p Part, b *Blob) (*Upload, error) {
	if old != nil {
		if err := t.dropUpload(batch, old); err != nil {
			return nil, err
		}
	}
	u := &Upload{Batch: batch.ID, Index: p.Index, Name: p.Name, Size: b.Size}
	u.row = &uploadRow{Name: p.Name, Type: p.Type, Holder: t.NewID(), File: b.With(p.Name, b.Type)}
	if err := t.HoldBlob(u.row.Holder, b); err != nil {
		return nil, err
	}
	return u, t.uploads().Put(fileKey(u.Batch, u.Index), u.row)
}

func (t *Tx) putChunk(id string, u *Upload, p Part, b *Blob) (*Upload, error) {
	switch {
	case p.Count < 1 || p.Count > maxChunks:
		return nil, fault.Invalid.Errorf("chunk count %d: not between 1 and %d", p.Count, maxChunks).In("chunkCount")
	case p.Chunk < 0 || p.Chunk >= p.Count:
		return nil, fault.Invalid.Errorf("chunk index %d: not below the chunk count %d", p.Chunk, p.Count).In("chunkIndex")
	case u == nil:
		u = &Upload{Batch: id, Index: p.Index, Name: p.Name, Chunked: true, Count: p.Count}
		u.row = &uploadRow{Name: p.Name, Type: p.Type, Chunked: true, Count: p.Count, Holder: t.NewID()}
		if err := t.uploads().Put(fileKey(id, p.Index), u.row); err != nil {
			return nil, err
		}
	case !u.Chunked || u.Count != p.Count:
		return nil, fault.Conflict.Errorf("batch %s: file %d: begun as %d chunks, not %d", id, p.Index, u.Count, p.Count)
	}
	if u.Complete() {
		return nil, fault.Exists.Errorf("batch %s: file %d: is complete", id, p.Index).WithCode("upload-chunk")
	}
	if u.Size+b.Size > t.repo.limits.BlobSize {
		return nil, fault.Limit.Errorf("batch %s: file %d: more than %d bytes", id, p.Index, t.repo.limits.BlobSize)
	}
	if u.has(p.Chunk) {
		return nil, fault.Exists.Errorf("batch %s: file %d: chunk %d is there already", id, p.Index, p.Chunk).WithCode("upload-chunk")
	}
	if len(u.Chunks)+1 < u.Count || b.Draft() != nil {
		if err := t.takeIn(u, p, b); err != nil {
			return nil, err
		}
	}
	if len(u.Chunks)+1 == u.Count {
		if err := t.complete(u, p, b); err != nil {
			return nil, err
		}
	}
	return t.findUpload(id, p.Index)
}

// takeIn puts a chunk where it stays until the file is whole.
func (t *Tx) takeIn(u *Upload, p Part, b *Blob) error {
	d := b.Draft()
	if d == nil {
		if err := t.HoldBlob(u.row.Holder, b); err != nil {
			return err
		}
		return t.uploads().Put(chunkKey(u.Batch, u.Index, p.Chunk), chunkRow{b.Digest, b.Size})
	}
	row := u.row
	g := t.repo.growing.of(fileKey(u.Batch, u.Index), d)
	if g == nil || row.Draft != g.name && (row.Draft != "" || g.begun) {
		return fault.Conflict.Errorf("batch %s: file %d: was dropped while chunk %d came in", u.Batch, u.Index, p.Chunk)
	}
	row.Draft, row.Part = g.name, g.part
	row.There = row.There.with(p.Chunk)
	if p.Chunk == row.Count-1 {
		row.Last = b.Size
	}
	var err error
	if row.Hashed, row.State, err = d.Hashed(); err != nil {
		return err
	}
	final := row.final()
	t.AfterCommit(func() {
		g.begun = true
		d.Final(final)
	})
	return t.uploads().Put(fileKey(u.Batch, u.Index), row)
}

// complete makes a file of the chunks, all of which are there. Usually they are in its draft, which
// becomes the file; those that came without a place have it written anew.
func (t *Tx) complete(u *Upload, p Part, last *Blob) error {
	row := u.row
	d := last.Draft()
	var whole *Blob
	var err error
	switch {
	case u.Count == 1:
		whole = last.With(row.Name, last.Type)
	case d != nil && row.There.count() == u.Count:
		whole, err = d.Whole(t.ctx, row.Name, row.Type, row.final())
	default:
		whole, err = t.join(u, p, last)
	}
	if fault.Is(err, fault.NotFound) {
		return fault.Conflict.Errorf("batch %s: file %d: was completed or dropped while chunk %d came in", u.Batch, u.Index, p.Chunk)
	}
	if err != nil {
		return err
	}
	if err := t.HoldBlob(row.Holder, whole); err != nil {
		return err
	}
	if err := t.dropChunks(u, whole.Digest); err != nil {
		return err
	}
	t.dropDraft(u)
	u.row = &uploadRow{Name: row.Name, Type: row.Type, Chunked: true, Count: row.Count, Holder: row.Holder, File: whole}
	return t.uploads().Put(fileKey(u.Batch, u.Index), u.row)
}

// join writes a file anew from its chunks.
func (t *Tx) join(u *Upload, p Part, last *Blob) (*Blob, error) {
	row := u.row
	parts := make([]*Blob, u.Count)
	d := t.repo.blobs.Draft(row.Draft, 0, nil)
	for i := range parts {
		if row.There.has(i) {
			parts[i] = d.Piece(int64(i)*row.Part, row.size(i))
		}
	}
	for i, c := range t.chunks(u) {
		parts[i] = t.HeldBlob(Blob{Digest: c.Digest, Size: c.Size})
	}
	parts[p.Chunk] = last
	in := &joined{ctx: t.ctx, parts: parts}
	defer func() { _ = in.Close() }()
	return t.repo.blobs.Spool(t.ctx, row.Name, row.Type, in, t.repo.limits.BlobSize)
}

// dropDraft removes the draft of a file once the transaction is committed. Should that fail, Sweep
// does it.
func (t *Tx) dropDraft(u *Upload) {
	name := u.row.Draft
	if name == "" {
		return
	}
	t.AfterCommit(func() {
		if err := t.repo.blobs.RemoveDraft(name); err != nil {
			t.repo.log.LogAttrs(t.ctx, slog.LevelWarn, "draft stays", slog.String("draft", name), slog.Any("error", err))
		}
	})
}

// joined reads files one after the other, with one of them open at a time.
type joined struct {
	ctx   context.Context //nolint:containedctx // of the one reading
	parts []*Blob
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
