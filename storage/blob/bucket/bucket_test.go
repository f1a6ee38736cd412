package bucket_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage/blob/bucket"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

func open(t *testing.T, address string) *bucket.Bucket {
	t.Helper()
	b, err := bucket.Open(address)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func bytesOf(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{7}).Read(data)
	return data
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "s3://", "s3:///x", "http://bucket/x", "s3://key:secret@bucket/x", "s3://bucket:1/x", "s3://bucket?endpoint=ftp://x", "s3://bucket?endpoint=https://x/y", "s3://bucket?regoin=x", "%"} {
		if _, err := bucket.Open(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for address, want := range map[string]string{"s3://bucket": "s3://bucket/x", "s3://bucket//a/b/?region=r": "s3://bucket/a/b/x?region=r"} {
		if got := open(t, address).At("x"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// TestPutAndRead puts objects of all sizes and reads them whole and in places.
func TestPutAndRead(t *testing.T) {
	store := buckettest.New(t)
	b, ctx := open(t, store.Address("in/here")), t.Context()
	for _, size := range []int{0, 1, 1000, 16 << 20, 16<<20 + 1, 33 << 20} {
		data := bytesOf(size)
		if err := b.Put(ctx, "x", bytes.NewReader(data), int64(size)); err != nil {
			t.Fatalf("%d: %v", size, err)
		}
		if !bytes.Equal(store.Get("in/here/x"), data) {
			t.Errorf("%d bytes: others are kept", size)
		}
		if got, modified, err := b.Stat(ctx, "x"); err != nil || got != int64(size) || time.Since(modified) > time.Minute {
			t.Errorf("%d: %d, %v, %v", size, got, modified, err)
		}
		r := b.Reader(ctx, "x", int64(size))
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d: read %d bytes, %v", size, len(got), err)
		}
		if size < 1000 {
			continue
		}
		for _, at := range []int64{int64(size) - 1, 0, 17, 500} {
			if _, err := r.Seek(at, io.SeekStart); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, min(400, int64(size)-at))
			if _, err := io.ReadFull(r, got); err != nil || !bytes.Equal(got, data[at:at+int64(len(got))]) {
				t.Errorf("%d: at %d: %v", size, at, err)
			}
		}
		_ = r.Close()
	}
	if len(store.Begun()) > 0 {
		t.Errorf("begun: %q", store.Begun())
	}
}

// TestRanges asks only for what is read.
func TestRanges(t *testing.T) {
	store := buckettest.New(t)
	store.Set("x", bytesOf(20<<20), time.Now())
	r := open(t, store.Address("")).Reader(t.Context(), "x", 20<<20)
	if _, err := r.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	r.Expect(10)
	if got, err := io.ReadAll(io.LimitReader(r, 10)); err != nil || len(got) != 10 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := r.Seek(-1, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || len(got) != 1 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, want := store.Asked(), []string{"GET x bytes=5-14", "GET x bytes=20971519-20971519"}; !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("a place before the object")
	}
}

// TestBrokenConnections reads on where a connection broke, and gives up where all do.
func TestBrokenConnections(t *testing.T) {
	store := buckettest.New(t)
	data := bytesOf(3 << 20)
	store.Set("x", data, time.Now())
	b := open(t, store.Address(""))
	store.Fail(func(*http.Request) (int, string) { return -1, "" })
	r := b.Reader(t.Context(), "x", int64(len(data)))
	got, err := io.ReadAll(r)
	if n := len(got); !fault.Is(err, fault.Unavailable) || n == 0 || n == len(data) || !bytes.Equal(got, data[:n]) {
		t.Errorf("%d bytes, %v", n, err)
	}
	store.Fail(nil)
	if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(append(got, rest...), data) {
		t.Errorf("%d bytes after %d, %v", len(rest), len(got), err)
	}
}

// TestFailures tells what kind every failure is, and leaves nothing half done.
func TestFailures(t *testing.T) {
	store := buckettest.New(t)
	b, ctx := open(t, store.Address("")), t.Context()
	if _, _, err := b.Stat(ctx, "none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v", err)
	}
	if _, err := b.Open(ctx, "none"); !fault.Is(err, fault.NotFound) {
		t.Errorf("none: %v", err)
	}
	store.Set("short", []byte("short"), time.Now())
	for _, size := range []int64{6, 100} {
		if _, err := io.ReadAll(b.Reader(ctx, "short", size)); !fault.Is(err, fault.Internal) {
			t.Errorf("%d bytes of 5: %v", size, err)
		}
	}
	if err := b.Create(ctx, "short", []byte("x")); !fault.Is(err, fault.Exists) || string(store.Get("short")) != "short" {
		t.Errorf("created again: %v", err)
	}
	broken := errors.New("broken")
	for _, size := range []int64{10, 40 << 20} {
		err := b.Put(ctx, "x", io.MultiReader(bytes.NewReader(bytesOf(int(size)-1)), failing{broken}), size)
		if !errors.Is(err, broken) || store.Get("x") != nil || len(store.Begun()) > 0 {
			t.Errorf("%d bytes that break off: %v, %q, %q", size, err, store.Keys(), store.Begun())
		}
	}
	store.Fail(func(*http.Request) (int, string) { return http.StatusForbidden, "AccessDenied" })
	for _, err := range []error{b.Put(ctx, "x", strings.NewReader("x"), 1), b.Remove(ctx, "short"), b.Ready(ctx, time.Now()), b.Each(ctx, nil), b.Create(ctx, "y", nil)} {
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("denied: %v", err)
		}
	}
	store.Fail(nil)
	if _, err := open(t, strings.Replace(store.Address(""), "bucket", "other", 1)).List(ctx); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no bucket: %v", err)
	}
	done, stop := context.WithCancel(ctx)
	stop()
	if _, err := b.List(done); err == nil {
		t.Error("a call that has ended")
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestPasses tries again what fails once.
func TestPasses(t *testing.T) {
	store := buckettest.New(t)
	b, n := open(t, store.Address("")), 0
	store.Fail(func(*http.Request) (int, string) {
		if n++; n%2 == 1 {
			return http.StatusServiceUnavailable, "SlowDown"
		}
		return 0, ""
	})
	if err := b.Put(t.Context(), "x", strings.NewReader("content"), 7); err != nil {
		t.Error(err)
	}
	if got, err := io.ReadAll(b.Reader(t.Context(), "x", 7)); err != nil || string(got) != "content" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestList lists all pages, and nothing below other prefixes.
func TestList(t *testing.T) {
	store := buckettest.New(t)
	for _, key := range []string{"a/1", "a/2", "a/3", "a/4", "a/5", "a/6", "a/7", "a/below/1", "ab", "b/1"} {
		store.Set(key, []byte(key), time.Now())
	}
	if got, err := open(t, store.Address("a")).List(t.Context()); err != nil || strings.Join(got, "") != "1234567" {
		t.Errorf("%q, %v", got, err)
	}
	enough := errors.New("enough")
	if err := open(t, store.Address("a")).Each(t.Context(), func(string, int64, time.Time) error { return enough }); !errors.Is(err, enough) {
		t.Error(err)
	}
}

// TestReady removes what was begun before a moment and is not below another prefix.
func TestReady(t *testing.T) {
	store, now := buckettest.New(t), time.Now()
	store.Begin("a/old", now.Add(-time.Hour))
	store.Begin("a/new", now.Add(time.Hour))
	store.Begin("a/below/old", now.Add(-time.Hour))
	store.Begin("b/old", now.Add(-time.Hour))
	if err := open(t, store.Address("a")).Ready(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if got, want := store.Begun(), []string{"a/below/old", "a/new", "b/old"}; !slices.Equal(got, want) {
		t.Errorf("left: %q, want %q", got, want)
	}
}
