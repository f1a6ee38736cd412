package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/blob/blobtest"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

func stores(t *testing.T, fn func(t *testing.T, s *Store)) {
	t.Helper()
	for name, dir := range map[string]string{"memory": "", "folder": filepath.Join(t.TempDir(), "new", "blobs")} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(dir, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			fn(t, s)
		})
	}
	t.Run("bucket", func(t *testing.T) {
		fn(t, inBucket(t, buckettest.New(t), t.TempDir(), 1<<30))
	})
}

func spooled(t testing.TB, s *Store, data []byte) *Blob {
	t.Helper()
	b, err := s.Spool(t.Context(), "a.bin", "application/x-test", bytes.NewReader(data), 0)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t *testing.T, b *Blob) []byte {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func has(t *testing.T, s *Store, digest string) bool {
	t.Helper()
	ok, err := s.Has(t.Context(), digest)
	if err != nil {
		t.Error(err)
	}
	return ok
}

func TestContentSurvives(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		for _, size := range []int{0, 1, inline, inline + 1, 3*inline + 5, 1 << 20} {
			data := make([]byte, size)
			rand.Read(data)
			sum := sha256.Sum256(data)
			b := spooled(t, s, data)
			if want := hex.EncodeToString(sum[:]); b.Digest != want || b.Size != int64(size) {
				t.Fatalf("size %d: spooled %s %d, want %s", size, b.Digest, b.Size, want)
			}
			if !bytes.Equal(read(t, b), data) {
				t.Fatalf("size %d: spooled content differs", size)
			}
			if has(t, s, b.Digest) {
				t.Fatalf("size %d: there before it was kept", size)
			}
			for range 2 {
				if err := s.Keep(t.Context(), b); err != nil {
					t.Fatal(err)
				}
			}
			if !has(t, s, b.Digest) || !bytes.Equal(read(t, b), data) {
				t.Fatalf("size %d: content differs after it was kept", size)
			}
			loaded := s.Load(Blob{Name: "b", Digest: b.Digest, Size: b.Size})
			if got, err := loaded.Bytes(0); err != nil || !bytes.Equal(got, data) {
				t.Fatalf("size %d: loaded content differs, %v", size, err)
			}
			if err := s.Keep(t.Context(), loaded); err != nil {
				t.Fatal(err)
			}
			if err := s.Verify(t.Context(), b.Digest); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestKeptContentIsThereAfterOpen(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	big, small := spooled(t, s, make([]byte, 1<<18)), FromBytes("s", "text/plain", []byte("small"))
	for _, b := range []*Blob{big, small} {
		if err := s.Keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got := read(t, s.Load(*small)); string(got) != "small" {
		t.Errorf("got %q", got)
	}
	if err := s.Verify(t.Context(), big.Digest); err != nil {
		t.Error(err)
	}
	found := map[string]int64{}
	s.Each(t.Context(), func(digest string, size int64, mod time.Time) error {
		if time.Since(mod) > time.Minute {
			t.Errorf("%s kept at %s", digest, mod)
		}
		found[digest] = size
		return nil
	})
	if len(found) != 2 || found[big.Digest] != 1<<18 || found[small.Digest] != 5 {
		t.Errorf("found %v", found)
	}
}

func TestLeftoversOfACrashAreRemoved(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	b := spooled(t, s, make([]byte, 1<<18))
	if n := files(t, dir); n != 1 {
		t.Fatalf("%d files while spooled, want 1", n)
	}
	// The process dies: nothing is closed, the folder is opened again.
	again, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files left", n)
	}
	if err := s.Keep(t.Context(), b); !fault.Is(err, fault.Unavailable) {
		t.Errorf("keeping content that is gone: %v", err)
	}
}

func files(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed while we look
			return nil
		}
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700 | fs.ModeDir
		} else {
			n++
		}
		if p != dir && info.Mode() != want {
			t.Errorf("%s has mode %s", p, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestUnreachableSpoolIsRemoved(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	defer s.Close()
	spooled(t, s, make([]byte, 1<<18))
	waitEmpty(t, dir)
}

// waitEmpty waits until the temporary files of unreachable blobs are gone.
func waitEmpty(t *testing.T, dir string) {
	t.Helper()
	for range 100 {
		if runtime.GC(); files(t, dir) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("a temporary file stays")
}

func TestSpoolBounds(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		for _, size := range []int{10, inline + 1, 1 << 18} {
			data := make([]byte, size)
			if _, err := s.Spool(t.Context(), "n", "", bytes.NewReader(data), int64(size)); err != nil {
				t.Errorf("%d of at most %d bytes: %v", size, size, err)
			}
			_, err := s.Spool(t.Context(), "n", "", bytes.NewReader(data), int64(size)-1)
			if !fault.Is(err, fault.Limit) {
				t.Errorf("%d of at most %d bytes: %v", size, size-1, err)
			}
		}
		broken := io.MultiReader(bytes.NewReader(make([]byte, 1<<17)), failing{})
		if _, err := s.Spool(t.Context(), "n", "", broken, 0); !fault.Is(err, fault.Invalid) {
			t.Errorf("broken reader: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		slow := io.MultiReader(bytes.NewReader(make([]byte, 1<<17)), cancelling(cancel), bytes.NewReader(make([]byte, 1<<20)))
		if _, err := s.Spool(ctx, "n", "", slow, 0); !errors.Is(err, context.Canceled) || fault.Of(err) != fault.Unavailable {
			t.Errorf("cancelled: %v", err)
		}
		if s.root.FS != nil {
			waitEmpty(t, s.root.Dir)
		}
	})
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("line cut") }

type cancelling func()

func (c cancelling) Read(p []byte) (int, error) { c(); return 0, io.EOF }

func TestConcurrentKeepsOfOneContent(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		data := make([]byte, 1<<17)
		rand.Read(data)
		shared := spooled(t, s, data)
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				b := shared
				switch i % 3 {
				case 1:
					b = spooled(t, s, data)
				case 2:
					b = FromBytes("n", "", data)
				}
				if err := s.Keep(t.Context(), b); err != nil {
					t.Error(err)
				}
				if !bytes.Equal(read(t, b), data) {
					t.Error("content differs")
				}
			})
		}
		for range 4 { // collection with nothing old enough
			wg.Go(func() {
				if gone, err := s.RemoveBefore(t.Context(), shared.Digest, time.Now().Add(-time.Hour)); gone || err != nil {
					t.Error(gone, err)
				}
			})
		}
		wg.Wait()
		if err := s.Verify(t.Context(), shared.Digest); err != nil {
			t.Error(err)
		}
		if len(s.busy) != 0 || len(s.dirs.waits) != 0 {
			t.Errorf("%d locks, %d syncs left", len(s.busy), len(s.dirs.waits))
		}
	})
}

func TestDamageIsFound(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	defer s.Close()
	b := FromBytes("n", "", []byte("content"))
	s.Keep(t.Context(), b)
	at := contentPath(b.Digest)
	file := filepath.Join(dir, at)

	if err := os.WriteFile(file, []byte("c0ntent"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), b.Digest); !fault.Is(err, fault.Internal) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("changed byte: %v", err)
	}
	os.Truncate(file, 3)
	if _, err := s.Load(*b).Open(); !fault.Is(err, fault.Internal) {
		t.Errorf("cut file: %v", err)
	}
	if err := s.Keep(t.Context(), b); err != nil { // rewrites it, as the size is wrong
		t.Error(err)
	}
	if err := s.Verify(t.Context(), b.Digest); err != nil {
		t.Error(err)
	}
	os.Remove(file)
	if _, err := s.Load(*b).Open(); !fault.Is(err, fault.Internal) {
		t.Errorf("missing file: %v", err)
	}
	if err := s.Verify(t.Context(), b.Digest); !fault.Is(err, fault.NotFound) {
		t.Errorf("missing file: %v", err)
	}
}

func TestRemove(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		b := FromBytes("n", "", []byte("content"))
		s.Keep(t.Context(), b)
		if gone, err := s.RemoveBefore(t.Context(), b.Digest, time.Now().Add(time.Minute)); !gone || err != nil {
			t.Error(gone, err)
		}
		if has(t, s, b.Digest) {
			t.Error("still there")
		}
		for range 2 {
			if err := s.Remove(t.Context(), b.Digest); err != nil {
				t.Error(err)
			}
		}
		if err := s.Keep(t.Context(), s.Load(*b)); !fault.Is(err, fault.Internal) {
			t.Errorf("keeping content that is gone: %v", err)
		}
	})
}

func TestHostileNames(t *testing.T) {
	stores(t, func(t *testing.T, s *Store) {
		for _, name := range blobtest.HostileNames() {
			b := FromBytes(name, "text/plain", []byte("content"))
			if err := s.Keep(t.Context(), b); err != nil {
				t.Errorf("%q: %v", name, err)
			}
			for _, digest := range []string{name, name + strings.Repeat("0", 64), strings.Repeat("../", 21) + "x", strings.ToUpper(b.Digest)} {
				if has(t, s, digest) {
					t.Errorf("has %q", digest)
				}
				if err := s.Remove(t.Context(), digest); !fault.Is(err, fault.Invalid) {
					t.Errorf("remove %q: %v", digest, err)
				}
				if _, err := s.Load(Blob{Digest: digest}).Open(); err == nil {
					t.Errorf("opened %q", digest)
				}
			}
		}
		if s.root.FS != nil {
			if n := files(t, s.root.Dir); n != 1 { // or a mark
				t.Errorf("%d files, want 1", n)
			}
		}
	})
}

func TestWith(t *testing.T) {
	b := FromBytes("a.txt", "text/plain; charset=UTF-8", []byte("content"))
	if b.Type != "text/plain" || b.Encoding != "UTF-8" {
		t.Errorf("type %q, encoding %q", b.Type, b.Encoding)
	}
	c := b.With("b.txt", "text/x-b").WithEncoding("")
	if c.Name != "b.txt" || c.Type != "text/x-b" || c.Encoding != "" || b.Name != "a.txt" || b.Same(c) || string(read(t, c)) != "content" {
		t.Errorf("got %+v from %+v", c, b)
	}
	if _, err := b.Bytes(6); !fault.Is(err, fault.Limit) {
		t.Errorf("7 of at most 6 bytes: %v", err)
	}
	if _, err := (&Blob{Digest: "x"}).Open(); !fault.Is(err, fault.Internal) {
		t.Errorf("no content: %v", err)
	}
}

func TestTypeOf(t *testing.T) {
	pdf, html, zip := "%PDF-1.7\n", "<!DOCTYPE html><html></html>", "PK\x03\x04\x14\x00\x00\x00\x00\x00"
	for _, x := range []struct{ name, typ, head, want, enc string }{
		{"a.pdf", "", pdf, "application/pdf", ""},
		{"a.bin", Unknown, pdf, "application/pdf", ""},
		{"", "pdf", "", "application/pdf", ""},
		{"", "PNG", "", "image/png", ""},
		{"", "image/jpg", "", "image/jpeg", ""},
		{"x", "image/x-thing", pdf, "image/x-thing", ""},
		{"x", "text/plain;charset=iso-8859-1", "", "text/plain", "iso-8859-1"},
		{"x", "nonsense", html, "text/html", ""},
		{"x.md", "", "# Title", "text/markdown", ""},
		{"x.json", "", `{"a":1}`, "application/json", ""},
		{"x.html", "", html, "text/html", ""},
		{"x.png", "", pdf, "application/pdf", ""},
		{"x.docx", "", zip, "application/vnd.openxmlformats-officedocument.wordprocessingml.document", ""},
		{"x", "", zip, "application/zip", ""},
		{"x.txt", "", "", "text/plain", ""},
		{"", "", "", Unknown, ""},
		{"x", "text/", "plain", "text/plain", ""},
		{"x", "", "\x00\x01\x02\x03", Unknown, ""},
	} {
		if got, enc := TypeOf(x.name, x.typ, []byte(x.head)); got != x.want || enc != x.enc {
			t.Errorf("TypeOf(%q, %q, %.10q) = %q, %q, want %q, %q", x.name, x.typ, x.head, got, enc, x.want, x.enc)
		}
	}
}

func BenchmarkKeep(b *testing.B) {
	s, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	data := make([]byte, 4096)
	b.SetBytes(int64(len(data)))
	b.RunParallel(func(pb *testing.PB) {
		data := bytes.Clone(data)
		for pb.Next() {
			rand.Read(data[:16])
			if err := s.Keep(b.Context(), FromBytes("n", "text/plain", data)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
