package blob

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage/blob/bucket"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

// inBucket opens a store whose content is below "files" in the bucket.
func inBucket(t *testing.T, store *buckettest.Store, dir string, cache int64) *Store {
	t.Helper()
	s, err := openIn(t, store, dir, Objects{Owner: "me", New: store.Get("files/owner") == nil, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	store.Asked()
	return s
}

func openIn(t *testing.T, store *buckettest.Store, dir string, in Objects) (*Store, error) {
	t.Helper()
	var err error
	if in.Bucket, err = bucket.Open(store.Address("files")); err != nil {
		t.Fatal(err)
	}
	s, err := OpenObjects(t.Context(), dir, in, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

func random(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8)}).Read(data)
	return data
}

func keep(t *testing.T, s *Store, data []byte) *Blob {
	t.Helper()
	b := spooled(t, s, data)
	if err := s.Keep(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestObjectsAreSentOnce sends content that is there already no second time, and reads what was sent without asking.
func TestObjectsAreSentOnce(t *testing.T) {
	store := buckettest.New(t)
	s := inBucket(t, store, t.TempDir(), 1<<20)
	data := random(1 << 18)
	b := keep(t, s, data)
	head, put := "HEAD files/"+b.Digest, "PUT files/"+b.Digest
	if got := store.Asked(); !slices.Equal(got, []string{head, put}) {
		t.Errorf("first: %q", got)
	}
	if got := read(t, s.Load(*b)); !bytes.Equal(got, data) {
		t.Error("content differs")
	}
	keep(t, s, data)
	if err := s.Keep(t.Context(), s.Load(*b)); err != nil {
		t.Error(err)
	}
	if got := store.Asked(); !slices.Equal(got, []string{head, head}) {
		t.Errorf("again: %q", got)
	}
	if _, err := os.Stat(filepath.Join(s.root.Dir, tempDir)); err != nil {
		t.Error(err)
	}
}

// TestObjectsAreReadInPlaces asks for a part of long content only, in whole blocks, and checks all of it if all of it is sent.
func TestObjectsAreReadInPlaces(t *testing.T) {
	store := buckettest.New(t)
	s := inBucket(t, store, t.TempDir(), 1000)
	data := random(1 << 18)
	b := s.Load(*keep(t, s, data))
	store.Asked()
	var out bytes.Buffer
	if err := send(t, b, &out, 1000, 50); err != nil || !bytes.Equal(out.Bytes(), data[1000:1050]) {
		t.Error(err)
	}
	key := "files/" + b.Digest
	if got, want := store.Asked(), []string{"HEAD " + key, "GET " + key + " bytes=0-262143"}; !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	other := bytes.Clone(data)
	other[1<<17]++
	store.Set(key, other, time.Now())
	out.Reset()
	if err := send(t, b, &out, 0, b.Size); !fault.Is(err, fault.Internal) || out.Len() == len(data) {
		t.Errorf("damaged content: %d bytes, %v", out.Len(), err)
	}
	if err := s.Verify(t.Context(), b.Digest); !fault.Is(err, fault.Internal) {
		t.Errorf("damaged content: %v", err)
	}
}

// TestCacheOfObjects fills the cache once, keeps what was used last, and trusts nothing that it finds.
func TestCacheOfObjects(t *testing.T) {
	store, dir := buckettest.New(t), t.TempDir()
	const size = 1 << 17
	s := inBucket(t, store, dir, 4*size)
	var all []*Blob
	for i := range 6 {
		all = append(all, s.Load(*keep(t, s, random(size+i-6))))
	}
	cached := func(b *Blob) bool {
		_, err := os.Stat(filepath.Join(dir, cacheDir, b.Digest))
		return err == nil
	}
	if s.whole.(*objects).cache.bytes > 4*size || cached(all[0]) || !cached(all[5]) {
		t.Errorf("%d bytes, %t, %t", s.whole.(*objects).cache.bytes, cached(all[0]), cached(all[5]))
	}
	store.Asked()
	read(t, all[0])
	read(t, all[0])
	if got := store.Asked(); len(got) != 1 || !cached(all[0]) {
		t.Errorf("asked %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, cacheDir, all[0].Digest), random(int(all[0].Size) + 1)[1:], fileMode); err != nil {
		t.Fatal(err)
	}
	s = inBucket(t, store, dir, 4*size)
	for i, asked := range []int{1, 0, 0} {
		b := s.Load(*all[(6-i)%6])
		store.Asked()
		if got := read(t, b); !bytes.Equal(got, random(int(b.Size))) {
			t.Errorf("%d: content differs", i)
		}
		if got := store.Asked(); len(got) != asked {
			t.Errorf("%d: asked %q", i, got)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = inBucket(t, store, dir, size)
	if n := s.whole.(*objects).cache.bytes; n > size || n == 0 {
		t.Errorf("%d bytes in a smaller cache", n)
	}
	damaged := bytes.Clone(random(size - 6))
	damaged[0]++
	store.Set("files/"+all[0].Digest, damaged, time.Now())
	s.whole.(*objects).cache.remove(all[0].Digest)
	if _, err := s.Load(*all[0]).Open(); !fault.Is(err, fault.Internal) || cached(all[0]) {
		t.Errorf("damaged content: %v", err)
	}
}

// TestObjectsFail tells what every failure is, and has nothing half done.
func TestObjectsFail(t *testing.T) {
	store := buckettest.New(t)
	s := inBucket(t, store, t.TempDir(), 1<<20)
	data := random(1 << 18)
	b := keep(t, s, data)
	s.whole.(*objects).cache.remove(b.Digest)
	store.Fail(func(*http.Request) (int, string) { return http.StatusForbidden, "AccessDenied" })
	more := spooled(t, s, random(1<<17))
	_, opened := s.Load(*b).Open()
	_, has := s.Has(t.Context(), b.Digest)
	_, removed := s.RemoveBefore(t.Context(), b.Digest, time.Now().Add(time.Hour))
	_, old := s.Old(t.Context(), time.Now())
	for i, err := range []error{s.Keep(t.Context(), more), s.Keep(t.Context(), b), opened, has, removed, old, s.Verify(t.Context(), b.Digest), s.Ping(t.Context())} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("%d: denied: %v", i, err)
		}
		if i < 5 && strings.Contains(err.Error(), "://") {
			t.Errorf("%d: tells where the store is: %v", i, err)
		}
	}
	store.Fail(nil)
	if err := s.Keep(t.Context(), more); err != nil || !bytes.Equal(store.Get("files/"+more.Digest), random(1<<17)) {
		t.Errorf("once it answers: %v", err)
	}
	store.Set("files/"+b.Digest, nil, time.Time{})
	if _, err := s.Load(*b).Open(); !fault.Is(err, fault.Internal) {
		t.Errorf("missing: %v", err)
	}
	store.Set("files/"+b.Digest, data[:100], time.Now())
	if _, err := s.Load(*b).Open(); !fault.Is(err, fault.Internal) {
		t.Errorf("shorter: %v", err)
	}
	if err := s.Keep(t.Context(), FromBytes("", "", data)); err != nil || !bytes.Equal(store.Get("files/"+b.Digest), data) {
		t.Errorf("anew: %v", err)
	}
	wrong := FromBytes("", "", random(70))
	wrong.Digest = strings.Repeat("0", 64)
	if err := s.Keep(t.Context(), wrong); !fault.Is(err, fault.Internal) || store.Get("files/"+wrong.Digest) != nil {
		t.Errorf("content of another digest: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Keep(ctx, spooled(t, s, random(1<<19))); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a call that has ended: %v", err)
	}
}

// TestObjectsHaveOneOwner opens a bucket for whom it belongs to only.
func TestObjectsHaveOneOwner(t *testing.T) {
	store := buckettest.New(t)
	if _, err := openIn(t, store, t.TempDir(), Objects{Owner: "me"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("content that should be there: %v", err)
	}
	for i, c := range []struct {
		owner string
		first bool
		want  bool
	}{{"me", true, true}, {"me", true, true}, {"me", false, true}, {"you", true, false}, {"you", false, false}} {
		if _, err := openIn(t, store, t.TempDir(), Objects{Owner: c.owner, New: c.first}); (err == nil) != c.want || err != nil && !fault.Is(err, fault.Conflict) {
			t.Errorf("%d: %v", i, err)
		}
	}
	store.Begin("files/left", time.Now().Add(-time.Second))
	inBucket(t, store, t.TempDir(), 1)
	if got := store.Begun(); len(got) != 0 {
		t.Errorf("begun: %q", got)
	}
	store.Fail(func(*http.Request) (int, string) { return http.StatusNotFound, "NoSuchBucket" })
	if _, err := openIn(t, store, t.TempDir(), Objects{Owner: "me"}); err == nil {
		t.Error("no bucket")
	}
}

// TestObjectsAge collects content by when it was last kept, which is not always when it was written, and looks for it
// now and then.
func TestObjectsAge(t *testing.T) {
	store := buckettest.New(t)
	s := inBucket(t, store, t.TempDir(), 1<<20)
	ctx, ago := t.Context(), func(d time.Duration) time.Time { return time.Now().Add(-d) }
	kept, left := keep(t, s, random(100)), keep(t, s, random(200))
	for _, b := range []*Blob{kept, left} {
		store.Set("files/"+b.Digest, store.Get("files/"+b.Digest), ago(100*time.Hour))
		if err := s.unmark(b.Digest); err != nil {
			t.Fatal(err)
		}
	}
	store.Begin("files/x", ago(100*time.Hour))
	keep(t, s, random(100))
	old, err := s.Old(ctx, ago(24*time.Hour))
	if err != nil || !slices.Equal(old, []string{left.Digest}) || len(store.Begun()) > 0 {
		t.Errorf("old: %q, %v; begun %q", old, err, store.Begun())
	}
	if old, err := s.Old(ctx, ago(24*time.Hour)); old != nil || err != nil {
		t.Errorf("again at once: %q, %v", old, err)
	}
	for b, want := range map[*Blob]bool{kept: false, left: true} {
		if gone, err := s.RemoveBefore(ctx, b.Digest, ago(24*time.Hour)); gone != want || err != nil || (store.Get("files/"+b.Digest) == nil) != want {
			t.Errorf("%d bytes: gone %t, %v", b.Size, gone, err)
		}
	}
	if err := s.forget(ago(-time.Hour)); err != nil {
		t.Error(err)
	}
	if old, err := s.Old(ctx, time.Now().Add(-time.Millisecond)); err != nil || !slices.Equal(old, []string{kept.Digest}) {
		t.Errorf("without marks: %q, %v", old, err)
	}
}

// TestDraftInBucket sends a file that grew, which stays a draft until somebody refers to it.
func TestDraftInBucket(t *testing.T) {
	store := buckettest.New(t)
	s := inBucket(t, store, t.TempDir(), 1<<20)
	d := s.Draft("d", 0, nil)
	take(t, d, 3, []byte("def"))
	take(t, d, 0, []byte("abc"))
	b, err := d.Whole(t.Context(), "n", "", 6)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Keep(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := d.Open(false); f != nil || err != nil {
		t.Errorf("what has become content is opened for writing: %v", err)
	}
	if err := s.RemoveDraft("d"); err != nil {
		t.Error(err)
	}
	if got := read(t, s.Load(*b)); string(got) != "abcdef" {
		t.Errorf("%q", got)
	}
	r, err := s.Read(t.Context(), b.Digest, 6)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "abcdef" {
		t.Errorf("%q, %v", got, err)
	}
}
