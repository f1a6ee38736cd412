package maintenance

import (
	"context"
	"runtime"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"

	"golang.org/x/sync/errgroup"
)

// Progress is told how much more was verified. Several may call it at once; nil is told nothing.
type Progress func(documents, bytes int64)

func (p Progress) add(documents, bytes int64) {
	if p != nil {
		p(documents, bytes)
	}
}

// Contents is what the store has of the content of files, of all repositories.
type Contents struct {
	sizes    map[string]int64  // in bytes, by digest, of those that are no rows
	problems map[string]string // of those that are damaged or missing
}

// contentReaders are how many contents are read at once for each processor: some wait for the disk.
const contentReaders = 4

// ListContents lists all content, and finds what is missing and what is known to be damaged.
func ListContents(ctx context.Context, r *storage.Repo) (*Contents, error) {
	c, err := contents(ctx, r, func(string, int64) error { return nil })
	if err != nil {
		return nil, err
	}
	for digest, found := range r.Blobs().Damaged() {
		c.problems[digest] = found.What
	}
	return c, nil
}

// ReadContents lists all content, reads it and compares it with the checksums of its blocks, or with its digest where there
// are none. The scrubber always computes the digests.
func ReadContents(ctx context.Context, r *storage.Repo, p Progress) (*Contents, error) {
	var mu sync.Mutex
	problems := map[string]string{}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(contentReaders * runtime.GOMAXPROCS(0))
	c, err := contents(ctx, r, func(digest string, size int64) error {
		work.Go(func() error {
			err := r.Blobs().Check(ctx, digest, size, func(n int) error {
				p.add(0, int64(n))
				return nil
			})
			found := blob.DamageIn(err)
			if found == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			problems[digest] = found.What
			return nil
		})
		return ctx.Err()
	})
	if failed := work.Wait(); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	for digest, what := range problems {
		c.problems[digest] = what
	}
	return c, nil
}

func contents(ctx context.Context, r *storage.Repo, fn func(digest string, size int64) error) (*Contents, error) {
	c := &Contents{sizes: map[string]int64{}, problems: map[string]string{}}
	err := r.Blobs().Each(ctx, func(digest string, size int64, _ time.Time) error {
		c.sizes[digest] = size
		return fn(digest, size)
	})
	if err != nil {
		return nil, err
	}
	err = missing(ctx, r, func(digest string) bool { _, ok := c.sizes[digest]; return ok }, func(digest string) { c.problems[digest] = isMissing })
	return c, err
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
