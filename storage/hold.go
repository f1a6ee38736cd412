package storage

import (
	"cmp"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// HoldBlob keeps a file that no document has, for the holder of an id: a record that names
// it. It stays until ReleaseBlob.
func (t *Tx) HoldBlob(holder string, b *Blob) error {
	id, err := t.holder(holder)
	if err != nil {
		return err
	}
	t.pin(b.Digest)
	if err := t.repo.blobs.Keep(t.ctx, b); err != nil {
		return err
	}
	return t.kv.Set(layout.BlobRefKey(b.Digest, id), nil)
}

// ReleaseBlob ends what HoldBlob began; content nobody else needs is swept later.
func (t *Tx) ReleaseBlob(holder, digest string) error {
	id, err := t.holder(holder)
	if err != nil {
		return err
	}
	return cmp.Or(t.kv.Delete(layout.BlobRefKey(digest, id)), t.loosen(digest))
}

// KeepBlob makes the content of a file durable although nobody refers to it: it stays for the
// grace period of Sweep, which is what a job that is about to use it needs.
func (t *Tx) KeepBlob(b *Blob) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	t.pin(b.Digest)
	return t.repo.blobs.Keep(t.ctx, b)
}

// HeldBlob returns the file of a digest with what the holder's record says about it. Whether
// the content is there is seen when the file is opened.
func (t *Tx) HeldBlob(meta Blob) *Blob {
	return t.repo.blobs.Load(blob.Blob{Name: meta.Name, Type: meta.Type, Encoding: meta.Encoding, Digest: meta.Digest, Size: meta.Size})
}

func (t *Tx) holder(id string) (layout.ID, error) {
	if err := t.MayWrite(); err != nil {
		return layout.None, err
	}
	h, ok := layout.ParseID(id)
	if !ok {
		return layout.None, fault.Invalid.Errorf("holder %q: not an id", id)
	}
	return h, nil
}
