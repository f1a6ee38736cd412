package blob

import (
	"bytes"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"catena/storage/fault"
)

func take(t *testing.T, d *Draft, at int64, data []byte) *Blob {
	t.Helper()
	f, err := d.Open(true)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	b, err := d.Take(t.Context(), f, at, int64(len(data)), bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDraft grows a file out of order, in a store that is opened again for every piece, has a
// piece break off, and makes content of it.
func TestDraft(t *testing.T) {
	dir := t.TempDir()
	const size = 3*blockSize + 7
	data := make([]byte, 4*size-100)
	rand.Read(data)
	var d *Draft
	var hashed int64
	var state []byte
	for _, x := range []struct{ piece, final int }{{2, 0}, {0, 1}, {1, 3}, {3, 3}} {
		s, err := Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		d = s.Draft("d", hashed, state)
		part := data[x.piece*size : min((x.piece+1)*size, len(data))]
		if got := read(t, take(t, d, int64(x.piece*size), part)); !bytes.Equal(got, part) {
			t.Fatalf("piece %d differs", x.piece)
		}
		d.Final(int64(x.final * size))
		s.hashing.Wait()
		if hashed, state, err = d.Hashed(); err != nil || hashed != int64(x.final*size) {
			t.Fatalf("%d bytes of %d hashed, %v", hashed, x.final*size, err)
		}
	}
	f, _ := d.Open(false)
	if _, err := d.Take(t.Context(), f, int64(len(data)), 2000, bytes.NewReader(make([]byte, 1000))); !fault.Is(err, fault.Invalid) {
		t.Errorf("half a piece: %v", err)
	}
	s := d.store
	b, err := d.Whole(t.Context(), "a.bin", "", int64(len(data)))
	if err != nil || b.Digest != FromBytes("", "", data).Digest || b.Type != Unknown {
		t.Fatalf("%+v, %v", b, err)
	}
	for range 2 {
		if err := s.Keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := d.Open(false); f != nil || err != nil {
		t.Errorf("what has become content is opened for writing: %v", err)
	}
	if got := read(t, d.Piece(size, size)); !bytes.Equal(got, data[size:2*size]) {
		t.Error("a piece of what has become content differs")
	}
	if n := files(t, dir); n != 2 {
		t.Errorf("%d files, want the content and the draft", n)
	}
	if err := s.RemoveDraft("d"); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), b.Digest); err != nil || !bytes.Equal(read(t, s.Load(*b)), data) {
		t.Errorf("content differs, %v", err)
	}
}

// TestDraftOfKnownContent checks that content which is there already is left alone, and that
// damaged content is replaced.
func TestDraftOfKnownContent(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	defer s.Close()
	data := []byte("content that comes twice")
	known := FromBytes("n", "", data)
	at := contentPath(known.Digest)
	for i, before := range []string{"", string(data), "dam"} {
		if before != "" {
			if err := os.WriteFile(filepath.Join(dir, at), []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d := s.Draft("d", 0, nil)
		take(t, d, 10, data[10:])
		take(t, d, 0, data[:10])
		b, err := d.Whole(t.Context(), "n", "", int64(len(data)))
		if err != nil || b.Digest != known.Digest {
			t.Fatalf("%d: %+v, %v", i, b, err)
		}
		if err := s.Keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := s.Verify(t.Context(), b.Digest); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if err := s.RemoveDraft("d"); err != nil {
			t.Error(err)
		}
	}
}

// TestDraftsStay checks what is listed, and what becomes of a draft whose file is gone.
func TestDraftsStay(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir, nil)
	d := s.Draft("d", 0, nil)
	take(t, d, 0, []byte("abc"))
	s.Close()
	d.Final(3) // after the end: nobody hashes
	s, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names := 0
	list := func(name string, size int64, mod time.Time) error {
		if names++; name != "d" || size != 3 || time.Since(mod) > time.Minute {
			t.Errorf("%s of %s", name, mod)
		}
		return nil
	}
	if err := s.Drafts(list); err != nil || names != 1 {
		t.Errorf("%d drafts, %v", names, err)
	}
	if err := s.Each(t.Context(), func(string, int64, time.Time) error { return fs.ErrExist }); err != nil {
		t.Errorf("a draft is listed as content: %v", err)
	}
	for range 2 {
		if err := s.RemoveDraft("d"); err != nil {
			t.Error(err)
		}
	}
	d = s.Draft("d", 3, []byte("no state"))
	if n, _, _ := d.Hashed(); n != 0 {
		t.Errorf("%d bytes are hashed with a broken state", n)
	}
	d.Final(3)
	s.hashing.Wait()
	if _, err := d.Whole(t.Context(), "n", "", 3); !fault.Is(err, fault.NotFound) {
		t.Errorf("a draft that is gone: %v", err)
	}
	if d := (&Store{}).Draft("d", 0, nil); d != nil {
		t.Error("a draft in memory")
	}
}

func BenchmarkSpool(b *testing.B) {
	s, err := Open(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	data := make([]byte, 16<<20)
	rand.Read(data)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if err := s.Keep(b.Context(), spooled(b, s, data)); err != nil {
			b.Fatal(err)
		}
		data[0]++
	}
}
