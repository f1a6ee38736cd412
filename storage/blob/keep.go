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
			return missing(b.Digest)
		}
		return nil
	}
	if !there {
		return s.whole.take(ctx, b)
	}
	if temp, ok := b.source.(*spool); ok && temp.store == s {
		temp.drop(b)
	}
	return nil
}

func unavailable(err error) error { return fault.Unavailable.Errorf("blobs: %w", err) }

func missing(digest string) error {
	return fault.Internal.Errorf("blob %s: content is missing", digest)
}

func malformed(digest string) error {
	return fault.Invalid.Errorf("digest %q: not SHA-256 in lower-case hex", digest)
}
