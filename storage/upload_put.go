package storage

import (
	"context"
	"encoding/json"
	"errors"
	"io"

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
	key := chunkKey(id, p.Index, p.Chunk)
	var there json.RawMessage
	if found, err := t.uploads().Get(key, &there); err != nil || found {
		return nil, firstError(err, fault.Exists.Errorf("batch %s: file %d: chunk %d is there already", id, p.Index, p.Chunk).WithCode("upload-chunk"))
	}
	if len(u.Chunks)+1 == u.Count {
		return t.complete(u, p, b)
	}
	if err := t.HoldBlob(u.row.Holder, b); err != nil {
		return nil, err
	}
	if err := t.uploads().Put(key, chunkRow{b.Digest, b.Size}); err != nil {
		return nil, err
	}
	return t.findUpload(id, p.Index)
}

// complete puts a file together when its last chunk comes, which need not be stored alone.
func (t *Tx) complete(u *Upload, p Part, last *Blob) (*Upload, error) {
	row := u.row
	whole := last.With(row.Name, last.Type)
	if u.Count > 1 {
		parts := make([]*Blob, u.Count)
		for i, c := range t.chunks(u) {
			parts[i] = t.HeldBlob(Blob{Digest: c.Digest, Size: c.Size})
		}
		parts[p.Chunk] = last
		in := &joined{ctx: t.ctx, parts: parts}
		defer func() { _ = in.Close() }()
		var err error
		if whole, err = t.repo.blobs.Spool(t.ctx, row.Name, row.Type, in, t.repo.limits.BlobSize); err != nil {
			return nil, err
		}
	}
	if err := t.HoldBlob(row.Holder, whole); err != nil {
		return nil, err
	}
	if err := t.dropChunks(u, whole.Digest); err != nil {
		return nil, err
	}
	row.File = whole
	if err := t.uploads().Put(fileKey(u.Batch, u.Index), row); err != nil {
		return nil, err
	}
	return t.findUpload(u.Batch, u.Index)
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
