package blob

import (
	"bytes"
	"testing"
	"time"

	"catena/storage/blob/bucket/buckettest"
)

// TestSharedFolder: a process that opens a folder that others have leaves alone what comes into it through them, and removes what
// one left that crashed long ago.
func TestSharedFolder(t *testing.T) {
	dir, data := t.TempDir(), random(100_000)
	shared := func() *Store {
		s, err := OpenShared(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a, crashed := shared(), shared()
	defer a.Close()
	b := spooled(t, a, data)
	long := time.Now().Add(-2 * leftover)
	if err := crashed.root.Chtimes(crashed.comes, long, long); err != nil {
		t.Fatal(err)
	}
	other := shared()
	if _, err := a.root.Stat(crashed.comes); err == nil {
		t.Error("what a process left is there")
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := a.Keep(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	again := shared()
	defer again.Close()
	r, err := again.Read(t.Context(), b.Digest, b.Size)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(r); err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if a.Draft("a.1.batch", 0, nil) != nil {
		t.Error("a draft, which others might write to")
	}
}

// TestSharedBucket: content that is kept again is new for all processes that have the bucket, and parts that another one is sending
// are left alone.
func TestSharedBucket(t *testing.T) {
	store := buckettest.New(t)
	open := func() *Store {
		s, err := openIn(t, store, t.TempDir(), Objects{Owner: "me", New: store.Get("files/owner") == nil, Shared: true, Cache: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := open()
	data := random(10_000)
	first := spooled(t, a, data)
	long := time.Now().Add(-48 * time.Hour)
	store.Set("files/"+first.Digest, data, long)
	store.Begin("files/"+first.Digest, time.Now().Add(-time.Minute))
	store.Begin("files/other", long)
	b := open()
	if begun := store.Begun(); len(begun) != 1 {
		t.Errorf("begun: %q", begun)
	}
	if err := a.Keep(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	if gone, err := b.RemoveBefore(t.Context(), first.Digest, time.Now().Add(-time.Hour)); err != nil || gone {
		t.Errorf("removed what another process has just kept: %t, %v", gone, err)
	}
}
