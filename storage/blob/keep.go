package blob

import (
	"context"

	"catena/storage/fault"
)

// Keep makes the content of b durable under its digest: once it returns, content and name
// are on disk, or acknowledged by the object store. It must be called before the transaction that names the blob
// commits, and may be called again; content that is there already counts as new for collection.
func (s *Store) Keep(ctx context.Context, b *Blob) error {
	if !isDigest(b.Digest) {
		return malformed(b.Digest)
	}
	defer s.lock(b.Digest)()
	there, err := s.whole.renew(ctx, b.Digest, b.Size)
	if err != nil {
		return err
	}
	if c, ok := b.source.(*stored); ok && c.store == s {
		if !there {
			return s.missing(b.Digest)
		}
		return nil
	}
	if o, ok := s.whole.(*objects); ok && there && s.share { // the sweep of another process must see that it is new
		aged, err := o.aged(ctx, b.Digest)
		if err != nil {
			return err
		}
		there = !aged
	}
	if !there || s.isDamaged(b.Digest) { // which comes again, whole
		return s.take(ctx, b)
	}
	if temp, ok := b.source.(*spool); ok && temp.store == s {
		temp.drop(b)
	}
	return nil
}

func (s *Store) take(ctx context.Context, b *Blob) error {
	if err := s.whole.take(ctx, b); err != nil {
		return err
	}
	of := b.sums
	if m, ok := b.source.(memory); ok && of == nil {
		of = sumsIn(m)
	}
	s.recordSums(b.Digest, b.Size, of)
	s.Forget(b.Digest)
	return nil
}

func unavailable(err error) error { return fault.Unavailable.Errorf("blobs: %w", err) }

func malformed(digest string) error {
	return fault.Invalid.Errorf("digest %q: must be SHA-256 in lower-case hex", digest)
}
