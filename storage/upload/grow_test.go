package upload_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/memory"
	"catena/storage/storagetest"
	"catena/storage/upload"
)

// sending is a repository on disk whose uploads a test looks into.
type sending struct {
	*storage.Repo
	t     *testing.T
	dir   string
	as    *storage.Principal
	batch string
}

func grow(t *testing.T, change func(*storage.Config)) *sending {
	t.Helper()
	g := &sending{t: t, dir: t.TempDir(), as: &storage.Principal{Name: "bob"}}
	g.Repo = storagetest.Open(t, func(c *storage.Config) {
		var err error
		if c.Blobs, err = blob.Open(g.dir, nil); err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(c)
		}
	})
	err := g.Update(t.Context(), g.as, func(tx *storage.Tx) error {
		b, err := upload.Open(tx, upload.Handler)
		if err == nil {
			g.batch = b.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// send takes a chunk in and puts it into the batch.
func (g *sending) send(p upload.Part, r io.Reader, size int64) error {
	b, done, err := upload.Take(context.Background(), g.Repo, g.as, &upload.Incoming{Batch: g.batch, Part: p, Body: r, Size: size, Max: 1 << 20})
	if err != nil {
		return err
	}
	defer done()
	return g.Update(context.Background(), g.as, func(tx *storage.Tx) error {
		_, err := upload.Put(tx, g.batch, p, b)
		return err
	})
}

func (g *sending) chunk(i, n int, text string) error {
	p := upload.Part{Name: "f.txt", Chunked: true, Chunk: i, Count: n}
	return g.send(p, strings.NewReader(text), int64(len(text)))
}

// content is what the file consists of, or why there is none.
func (g *sending) content() string {
	g.t.Helper()
	var text string
	err := g.View(g.t.Context(), g.as, func(tx *storage.Tx) error {
		u, err := upload.FileOf(tx, g.batch, 0)
		if err != nil {
			return err
		}
		b, err := upload.Content(tx, u)
		if err != nil {
			return err
		}
		data, err := b.Bytes(0)
		text = string(data)
		return errors.Join(err, g.Blobs().Verify(tx.Context(), b.Digest))
	})
	if err != nil {
		return err.Error()
	}
	return text
}

func (g *sending) drafts() (names []string) {
	g.t.Helper()
	files, err := os.ReadDir(filepath.Join(g.dir, "drafts"))
	if err != nil {
		g.t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func (g *sending) must(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// TestChunksInPlace checks that chunks are written to one file, which becomes the content.
func TestChunksInPlace(t *testing.T) {
	g := grow(t, nil)
	g.must(g.chunk(2, 4, "ghi"))
	g.must(g.chunk(0, 4, "abc"))
	before := g.drafts()
	if len(before) != 1 {
		t.Fatalf("drafts %v", before)
	}
	if err := g.chunk(0, 4, "xyz"); !fault.Is(err, fault.Exists) {
		t.Errorf("a chunk that is there: %v", err)
	}
	g.must(g.chunk(1, 4, "def"))
	inode, err := os.Stat(filepath.Join(g.dir, "drafts", before[0]))
	g.must(err)
	g.must(g.chunk(3, 4, "j, and a last chunk may be longer"))
	if got := g.content(); got != "abcdefghij, and a last chunk may be longer" {
		t.Error(got)
	}
	if after := g.drafts(); len(after) != 0 {
		t.Errorf("drafts %v", after)
	}
	same := false
	g.must(g.Blobs().Each(t.Context(), func(d string, _ int64, _ time.Time) error {
		info, err := os.Stat(filepath.Join(g.dir, d[:2], d[2:4], d))
		same = same || err == nil && os.SameFile(inode, info)
		return err
	}))
	if !same {
		t.Error("the content is another file than the chunks were written to")
	}
}

// TestChunksWithoutPlace sends chunks that have no place in the file when they come.
func TestChunksWithoutPlace(t *testing.T) {
	for _, chunks := range [][]string{
		{"2:last comes first", "0:abc", "1:def"},
		{"0:abc", "1:longer", "2:!"},
		{"1:abc", "2:end", "0:x"},
		{"0:", "1:abc", "2:d"},
		{"1:abc", "0:", "2:"},
	} {
		g := grow(t, nil)
		want := make([]string, 3)
		for _, c := range chunks {
			i := int(c[0] - '0')
			want[i] = c[2:]
			g.must(g.chunk(i, 3, want[i]))
		}
		if got := g.content(); got != strings.Join(want, "") {
			t.Errorf("%v: %q", chunks, got)
		}
		if after := g.drafts(); len(after) != 0 {
			t.Errorf("drafts %v", after)
		}
	}
}

// TestChunksAtOnce sends the chunks of a file together, some of them twice and with other bytes,
// while others break off.
func TestChunksAtOnce(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range 5 {
		g := grow(t, nil)
		const n = 12
		pieces := make([]string, n)
		var wg sync.WaitGroup
		taken := make([][]string, n)
		var mu sync.Mutex
		for i := range n {
			pieces[i] = strings.Repeat(fmt.Sprint(i%10), 5000)
		}
		for _, i := range rnd.Perm(n) {
			for try := range 3 {
				text := pieces[i]
				if try == 1 {
					text = strings.ToUpper(strings.Replace(text, "0", "a", 3))
				}
				cut := rnd.IntN(3) == 0 && try > 0
				wg.Go(func() {
					p := upload.Part{Name: "f.txt", Chunked: true, Chunk: i, Count: n}
					r := io.Reader(strings.NewReader(text))
					if cut {
						r = io.MultiReader(strings.NewReader(text[:4000]), iotest.ErrReader(io.ErrUnexpectedEOF))
					}
					err := g.send(p, r, int64(len(text)))
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil:
						taken[i] = append(taken[i], text)
					case !fault.Is(err, fault.Exists) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict):
						t.Errorf("seed %d: chunk %d: %v", seed, i, err)
					}
				})
			}
		}
		wg.Wait()
		want := ""
		for i, texts := range taken {
			if len(texts) != 1 {
				t.Fatalf("seed %d: chunk %d was taken %d times", seed, i, len(texts))
			}
			want += texts[0]
		}
		if got := g.content(); got != want {
			t.Errorf("seed %d: %d bytes, want %d", seed, len(got), len(want))
		}
	}
}

// TestChunksOfDroppedFile drops a file while a chunk of it comes in.
func TestChunksOfDroppedFile(t *testing.T) {
	g := grow(t, nil)
	g.must(g.chunk(0, 3, "abc"))
	drop := readerFunc(func(b []byte) (int, error) {
		g.must(g.Update(t.Context(), g.as, func(tx *storage.Tx) error { return upload.DropFile(tx, g.batch, 0) }))
		return copy(b, "def"), io.EOF
	})
	p := upload.Part{Name: "f.txt", Chunked: true, Chunk: 1, Count: 3}
	if err := g.send(p, drop, 3); !fault.Is(err, fault.Conflict) {
		t.Errorf("a chunk of a file that was dropped: %v", err)
	}
	for i, text := range []string{"one", "two", "3"} {
		g.must(g.chunk(i, 3, text))
	}
	if got := g.content(); got != "onetwo3" {
		t.Error(got)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// TestChunkAfterFailure has the transaction of the last chunk fail after the file has become
// content, and sends that chunk again with other bytes: the content stays what it was.
func TestChunkAfterFailure(t *testing.T) {
	g := grow(t, nil)
	g.must(g.chunk(0, 2, "abc"))
	p := upload.Part{Name: "f.txt", Chunked: true, Chunk: 1, Count: 2}
	b, done, err := upload.Take(t.Context(), g.Repo, g.as, &upload.Incoming{Batch: g.batch, Part: p, Body: strings.NewReader("def"), Size: 3, Max: 100})
	g.must(err)
	crash := errors.New("crash")
	err = g.Update(t.Context(), g.as, func(tx *storage.Tx) error {
		_, err := upload.Put(tx, g.batch, p, b)
		return errors.Join(err, crash)
	})
	done()
	if !errors.Is(err, crash) {
		t.Fatal(err)
	}
	g.must(g.chunk(1, 2, "xyz"))
	if got := g.content(); got != "abcxyz" {
		t.Error(got)
	}
	g.must(g.Blobs().Verify(t.Context(), digest("abcdef")))
}

// TestDraftsAreSwept checks that drafts go with their files and that Sweep finds those that stayed.
func TestDraftsAreSwept(t *testing.T) {
	g := grow(t, func(c *storage.Config) { c.BlobGrace = time.Nanosecond })
	g.must(g.chunk(0, 3, "abc"))
	broken := upload.Part{Index: 1, Chunked: true, Count: 2}
	if err := g.send(broken, bytes.NewReader(nil), 3); !fault.Is(err, fault.Invalid) {
		t.Errorf("a chunk that broke off: %v", err)
	}
	if names := g.drafts(); len(names) != 2 {
		t.Errorf("drafts %v", names)
	}
	g.must(os.WriteFile(filepath.Join(g.dir, "drafts", "other"), nil, 0o600))
	g.must(upload.Sweep(t.Context(), g.Repo))
	if names := g.drafts(); len(names) != 1 || !strings.HasSuffix(names[0], ".0."+g.batch) {
		t.Errorf("drafts %v", names)
	}
	g.must(g.Update(t.Context(), g.as, func(tx *storage.Tx) error { return upload.Drop(tx, g.batch) }))
	if names := g.drafts(); len(names) != 0 {
		t.Errorf("drafts %v", names)
	}
}

// TestBackupOfChunks goes on with an upload in what was restored from a backup.
func TestBackupOfChunks(t *testing.T) {
	g := grow(t, nil)
	g.must(g.chunk(2, 4, "ghi"))
	g.must(g.chunk(0, 4, "abc"))
	var tar bytes.Buffer
	g.must(maintenance.Backup(t.Context(), g.Repo, g.System(), &tar))
	batch := g.batch
	g = grow(t, func(c *storage.Config) {
		c.DB = kv.New(memory.New(), kv.Options{})
		g.must(maintenance.Restore(t.Context(), c.DB, c.Blobs, &tar))
	})
	g.batch = batch
	g.must(g.chunk(1, 4, "def"))
	g.must(g.chunk(3, 4, "j"))
	if got := g.content(); got != "abcdefghij" {
		t.Error(got)
	}
}
