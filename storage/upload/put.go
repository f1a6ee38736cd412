package upload

import (
	"log/slog"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

// Put takes a file or a chunk into a batch. A file without chunks replaces one of its
// number; a chunk that is there already is refused. With its last chunk a file is put
// together.
func Put(tx *storage.Tx, id string, p Part, b *storage.Blob) (*File, error) {
	batch, err := BatchOf(tx, id)
	if err != nil {
		return nil, err
	}
	if p.Index < 0 || p.Index > maxIndex {
		return nil, fault.Invalid.Errorf("file index %d: must be between 0 and %d", p.Index, maxIndex).In("fileIdx")
	}
	if batch.Expires.Sub(tx.Now()) < kept-renewal {
		batch.Expires = tx.Now().Add(kept)
		if err := rows(tx).Put(batchKey(id), batch); err != nil {
			return nil, err
		}
	}
	u, err := find(tx, id, p.Index)
	if err != nil {
		return nil, err
	}
	if u == nil {
		if err := roomFor(tx, id); err != nil {
			return nil, err
		}
	}
	if err := use(tx, batch.Owner, b.Size); err != nil {
		return nil, err
	}
	if p.Chunked {
		return putChunk(tx, id, u, p, b)
	}
	return putFile(tx, batch, u, p, b)
}

// roomFor checks that the batch may have one more file.
func roomFor(tx *storage.Tx, id string) error {
	n := 0
	for range rows(tx).Scan(filesKey(id), below(filesKey(id)), false, maxFiles) {
		n++
	}
	if n >= maxFiles {
		return fault.Limit.Errorf("batch %s: more than %d files", id, maxFiles).WithCode(fault.CodeUploadFiles)
	}
	return tx.Err()
}

func putFile(tx *storage.Tx, batch *Batch, old *File, p Part, b *storage.Blob) (*File, error) {
	if old != nil {
		if err := dropUpload(tx, batch, old); err != nil {
			return nil, err
		}
	}
	u := &File{Batch: batch.ID, Index: p.Index, Name: p.Name, Size: b.Size}
	u.row = &fileRow{Name: p.Name, Type: p.Type, Holder: tx.NewID(), File: b.With(p.Name, b.Type)}
	if err := hold.Keep(tx, u.row.Holder, b); err != nil {
		return nil, err
	}
	return u, rows(tx).Put(fileKey(u.Batch, u.Index), u.row)
}

func putChunk(tx *storage.Tx, id string, u *File, p Part, b *storage.Blob) (*File, error) {
	u, err := fileFor(tx, id, u, p)
	if err != nil {
		return nil, err
	}
	if u.Complete() {
		return nil, fault.Exists.Errorf("batch %s: file %d: is already complete", id, p.Index).WithCode(fault.CodeUploadChunk)
	}
	if u.Size+b.Size > tx.Repo().Limits().BlobSize {
		return nil, fault.Limit.Errorf("batch %s: file %d: more than %d bytes", id, p.Index, tx.Repo().Limits().BlobSize)
	}
	if u.has(p.Chunk) {
		return nil, fault.Exists.Errorf("batch %s: file %d: chunk %d was already received", id, p.Index, p.Chunk).WithCode(fault.CodeUploadChunk)
	}
	if len(u.Chunks)+1 < u.Count || b.Draft() != nil {
		if err := takeIn(tx, u, p, b); err != nil {
			return nil, err
		}
	}
	if len(u.Chunks)+1 == u.Count {
		if err := complete(tx, u, p, b); err != nil {
			return nil, err
		}
	}
	return find(tx, id, p.Index)
}

// fileFor is the file that a chunk belongs to; the first chunk to arrive creates it.
func fileFor(tx *storage.Tx, id string, u *File, p Part) (*File, error) {
	switch {
	case p.Count < 1 || p.Count > maxChunks:
		return nil, fault.Invalid.Errorf("chunk count %d: must be between 1 and %d", p.Count, maxChunks).In("chunkCount")
	case p.Chunk < 0 || p.Chunk >= p.Count:
		return nil, fault.Invalid.Errorf("chunk index %d: must be less than the chunk count %d", p.Chunk, p.Count).In("chunkIndex")
	case u == nil:
		u = &File{Batch: id, Index: p.Index, Name: p.Name, Chunked: true, Count: p.Count, Whole: p.Whole}
		u.row = &fileRow{Name: p.Name, Type: p.Type, Chunked: true, Count: p.Count, Whole: p.Whole, Holder: tx.NewID()}
		return u, rows(tx).Put(fileKey(id, p.Index), u.row)
	case !u.Chunked || u.Count != p.Count:
		return nil, fault.Conflict.Errorf("batch %s: file %d: was started with %d chunks, not %d", id, p.Index, u.Count, p.Count)
	}
	return u, nil
}

// takeIn puts a chunk where it stays until the file is whole.
func takeIn(tx *storage.Tx, u *File, p Part, b *storage.Blob) error {
	d := b.Draft()
	if d == nil {
		if err := hold.Keep(tx, u.row.Holder, b); err != nil {
			return err
		}
		return rows(tx).Put(chunkKey(u.Batch, u.Index, p.Chunk), chunkRow{b.Digest, b.Size})
	}
	row := u.row
	g := growingIn(tx.Repo()).of(fileKey(u.Batch, u.Index), d)
	if g == nil || row.Draft != g.name && (row.Draft != "" || g.begun) {
		return fault.Conflict.Errorf("batch %s: file %d: was dropped while chunk %d was received", u.Batch, u.Index, p.Chunk)
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
	tx.AfterCommit(func() {
		g.begun = true
		d.Final(final)
	})
	return rows(tx).Put(fileKey(u.Batch, u.Index), row)
}

// complete makes a file of the chunks, all of which are there. Usually they are in its draft, which
// becomes the file; those that came without a place have it rewritten.
func complete(tx *storage.Tx, u *File, p Part, last *storage.Blob) error {
	row := u.row
	d := last.Draft()
	var whole *storage.Blob
	var err error
	switch {
	case u.Count == 1:
		whole = last.With(row.Name, last.Type)
	case d != nil && row.There.count() == u.Count:
		whole, err = d.Whole(tx.Context(), row.Name, row.Type, row.final())
	default:
		whole, err = join(tx, u, p, last)
	}
	if fault.Is(err, fault.NotFound) {
		return fault.Conflict.Errorf("batch %s: file %d: was completed or dropped while chunk %d was received", u.Batch, u.Index, p.Chunk)
	}
	if err != nil {
		return err
	}
	if err := hold.Keep(tx, row.Holder, whole); err != nil {
		return err
	}
	if err := dropChunks(tx, u, whole.Digest); err != nil {
		return err
	}
	dropDraft(tx, u)
	u.row = &fileRow{Name: row.Name, Type: row.Type, Chunked: true, Count: row.Count, Holder: row.Holder, File: whole}
	return rows(tx).Put(fileKey(u.Batch, u.Index), u.row)
}

// dropDraft removes the draft of a file once the transaction is committed. Should that fail, Sweep
// does it.
func dropDraft(tx *storage.Tx, u *File) {
	name := u.row.Draft
	if name == "" {
		return
	}
	tx.AfterCommit(func() {
		if err := tx.Repo().Blobs().RemoveDraft(name); err != nil {
			tx.Repo().Log().LogAttrs(tx.Context(), slog.LevelWarn, "draft cannot be removed", slog.String("draft", name), slog.Any("error", err))
		}
	})
}
