package maintenance

import (
	"context"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/limit"

	"golang.org/x/sync/errgroup"
)

// Progress is told how much more was verified. Several may call it at once; nil is told nothing.
type Progress func(documents, bytes int64)

func (p Progress) add(documents, bytes int64) {
	if p != nil {
		p(documents, bytes)
	}
}

// contents is what the store has of the content of files, of all repositories.
type contents struct {
	sizes    map[string]int64  // in bytes, by digest, of those that are no rows
	problems map[string]string // of those that are damaged or missing
}

// contentReaders are how many contents are read at once for each processor: some wait for the disk.
const contentReaders = 4

// listContents lists all content, and finds what is missing.
func listContents(ctx context.Context, r *storage.Repo) (*contents, error) {
	c := &contents{sizes: map[string]int64{}, problems: map[string]string{}}
	err := r.Blobs().Each(ctx, func(digest string, size int64, _ time.Time) error {
		c.sizes[digest] = size
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	err = missing(ctx, r, func(digest string) bool { _, ok := c.sizes[digest]; return ok }, func(digest string) { c.problems[digest] = isMissing })
	return c, err
}

// read reads all contents that were listed, and finds what is damaged.
func (c *contents) read(ctx context.Context, s *blob.Store, p Progress) error {
	var mu sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(contentReaders * limit.Processors)
	for digest, size := range c.sizes {
		work.Go(func() error {
			err := s.Check(ctx, digest, size, func(n int) error {
				p.add(0, int64(n))
				return nil
			})
			found := blob.DamageIn(err)
			if found == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			c.problems[digest] = found.What
			return nil
		})
	}
	return work.Wait()
}

const isMissing = "is missing"

// missing calls fn with the digests of content that something refers to and that is nowhere. Those that are listed are not
// looked for; the others may have come since the list was made.
func missing(ctx context.Context, r *storage.Repo, listed func(digest string) bool, fn func(digest string)) error {
	return referred(ctx, r, func(k *kv.Tx, digest string) error {
		if listed(digest) {
			return nil
		}
		row, err := k.Get(layout.InlineKey(digest))
		if err != nil && fault.Is(err, fault.Internal) || row != nil {
			return nil // damaged rows are found with all others
		}
		if err != nil {
			return err
		}
		there, err := r.Blobs().Has(ctx, digest)
		if err == nil && !there {
			fn(digest)
		}
		return err
	})
}
