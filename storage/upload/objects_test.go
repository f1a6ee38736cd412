package upload_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/blob/bucket"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/upload"
)

// growIn is a repository whose content is in a bucket.
func growIn(t *testing.T, store *buckettest.Store) *sending {
	t.Helper()
	dir := t.TempDir()
	g := grow(t, func(c *storage.Config) {
		in, err := bucket.Open(store.Address(""))
		if err == nil {
			err = c.Blobs.Close()
		}
		if err == nil {
			c.Blobs, err = blob.OpenObjects(t.Context(), dir, blob.Objects{Bucket: in, Owner: "me", New: true, Cache: 1 << 20}, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	g.dir = dir
	return g
}

// TestKnownContentIsNotSwept has a file come in whose content the bucket has already, old and needed by nobody, so that it is
// not sent again; and everything that is not needed be removed, at every moment until the file is referred to.
func TestKnownContentIsNotSwept(t *testing.T) {
	const text = "content that is there already"
	for _, when := range []string{"never", "before", "taken", "put", "committed"} {
		t.Run(when, func(t *testing.T) {
			store := buckettest.New(t)
			g := growIn(t, store)
			ctx := context.Background()
			sweep := func(now string) {
				if now == when {
					g.must(g.Sweep(ctx))
				}
			}
			store.Set(digest(text), []byte(text), time.Now().Add(-100*time.Hour))
			sweep("before")
			if there := store.Get(digest(text)) != nil; there != (when != "before") {
				t.Fatalf("there: %t", there)
			}
			p := upload.Part{Name: "f.txt"}
			b, done, err := upload.Take(ctx, g.Repo, g.as, &upload.Incoming{Batch: g.batch, Part: p, Body: strings.NewReader(text), Size: -1, Max: 0})
			g.must(err)
			defer done()
			sweep("taken")
			g.must(g.Update(ctx, g.as, func(tx *storage.Tx) error {
				_, err := upload.Put(tx, g.batch, p, b)
				sweep("put")
				return err
			}))
			sweep("committed")
			if got := g.content(); got != text {
				t.Errorf("%q", got)
			}
			for _, r := range store.Asked() {
				if r == "PUT "+digest(text) && when != "before" {
					t.Error("it was sent again")
				}
			}
		})
	}
}

// TestLongFilesAreSentOutsideTransactions has a file that came in chunks in the bucket before the transaction of its last one.
func TestLongFilesAreSentOutsideTransactions(t *testing.T) {
	store := buckettest.New(t)
	g := growIn(t, store)
	g.must(g.chunk(1, 3, "def"))
	g.must(g.chunk(2, 3, "gh"))
	p := upload.Part{Name: "f.txt", Chunked: true, Count: 3}
	b, done, err := upload.Take(t.Context(), g.Repo, g.as, &upload.Incoming{Batch: g.batch, Part: p, Body: strings.NewReader("abc"), Size: 3, Max: 100})
	g.must(err)
	if got := string(store.Get(digest("abcdefgh"))); got != "abcdefgh" {
		t.Errorf("in the bucket: %q", got)
	}
	g.must(g.Update(t.Context(), g.as, func(tx *storage.Tx) error {
		_, err := upload.Put(tx, g.batch, p, b)
		return err
	}))
	done()
	if got := g.content(); got != "abcdefgh" || len(g.drafts()) > 0 {
		t.Errorf("%q, drafts %q", got, g.drafts())
	}
}
