// Package hold keeps content that no document refers to but other records do: uploads that are not used yet, exports,
// pictures. Content is stored once under its digest and removed when nothing refers to it, so a record must register
// as an owner of each content it names, in the transaction that writes it, and release the content in the transaction
// that deletes it.
package hold

import (
	"cmp"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
)

// Keep keeps a file that no document has, for the holder of an id: a record that names
// it. It stays until Release.
func Keep(t *storage.Tx, holder string, b *storage.Blob) error {
	id, err := parse(t, holder)
	if err != nil {
		return err
	}
	inside(t).Pin(b.Digest)
	if err := t.Repo().Blobs().Keep(t.Context(), b); err != nil {
		return err
	}
	return inside(t).KV().Set(layout.BlobRefKey(b.Digest, id), nil)
}

// Release ends what Keep began; content nobody else needs is swept later.
func Release(t *storage.Tx, holder, digest string) error {
	id, err := parse(t, holder)
	if err != nil {
		return err
	}
	return cmp.Or(inside(t).KV().Delete(layout.BlobRefKey(digest, id)), inside(t).Loosen(digest))
}

// Stage makes the content of a file durable although nobody refers to it: it stays for the
// grace period of Sweep, which is what a job that is about to use it needs.
func Stage(t *storage.Tx, b *storage.Blob) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	inside(t).Pin(b.Digest)
	return t.Repo().Blobs().Keep(t.Context(), b)
}

// Load returns the file of a digest with what the holder's record says about it. Whether
// the content is there is seen when the file is opened.
func Load(t *storage.Tx, meta storage.Blob) *storage.Blob {
	return t.Repo().Blobs().Load(blob.Blob{Name: meta.Name, Type: meta.Type, Encoding: meta.Encoding, Digest: meta.Digest, Size: meta.Size})
}

func parse(t *storage.Tx, id string) (layout.ID, error) {
	if err := t.MayWrite(); err != nil {
		return layout.None, err
	}
	h, ok := layout.ParseID(id)
	if !ok {
		return layout.None, fault.Invalid.Errorf("holder %q: not an id", id)
	}
	return h, nil
}

func inside(t *storage.Tx) storage.Internal { return t.Internal(row.Ordered{}) }
