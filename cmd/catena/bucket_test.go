package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage/blob/bucket"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

// TestDepots does with a folder and with a bucket what copies do with both.
func TestDepots(t *testing.T) {
	store := buckettest.New(t)
	store.Set("of/other", []byte("x"), time.Now())
	store.Set("of/server/below/x", []byte("x"), time.Now())
	for _, address := range []string{t.TempDir() + "/new", store.Address("of/server")} {
		ctx := t.Context()
		d, err := openDepot(address)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(want ...string) {
			t.Helper()
			if names, err := d.List(ctx); err != nil || !slices.Equal(names, want) {
				t.Errorf("%s holds %q, want %q: %v", address, names, want, err)
			}
		}
		holds()
		if err := d.Ready(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		large := bytes.Repeat([]byte("0123456789abcdef"), 40<<20/16)
		for name, data := range map[string][]byte{"a": large, "b": []byte("small"), "c": nil} {
			if err := d.Write(ctx, name, copyOf(bytes.NewReader(data))); err != nil {
				t.Fatalf("%s: %v", address, err)
			}
		}
		holds("a", "b", "c")
		broken := errors.New("broken")
		if err := d.Write(ctx, "b", func(w io.Writer) error {
			_, _ = w.Write(large)
			return broken
		}); !errors.Is(err, broken) {
			t.Errorf("%s: a write that breaks off: %v", address, err)
		}
		for name, want := range map[string][]byte{"a": large, "b": []byte("small")} {
			r, err := d.Open(ctx, name)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s has %d bytes, want %d: %v", address, name, len(got), len(want), err)
			}
			_ = r.Close()
		}
		if _, err := d.Open(ctx, "none"); err == nil {
			t.Errorf("%s: what is not there is opened", address)
		}
		if err := d.Remove(ctx, "a"); err != nil {
			t.Error(err)
		}
		holds("b", "c")
	}
	if len(store.Get("of/other")) == 0 || len(store.Begun()) > 0 {
		t.Errorf("in the bucket: %q, begun: %v", store.Keys(), store.Begun())
	}
}

// TestBackupBucket has a server keep its copies in a bucket, and makes a data directory of the newest.
func TestBackupBucket(t *testing.T) {
	store := buckettest.New(t)
	address := store.Address("of/server")
	data := t.TempDir() + "/data"
	a, err := (&global{data: data, logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &backups{folder: address, every: time.Hour, keep: 2}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for h := range 3 {
		if _, err := b.make(t.Context(), a.backup, start.Add(time.Duration(h)*time.Hour), ""); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"of/server/catena-20260301T130000Z.tar", "of/server/catena-20260301T140000Z.tar"}
	if !slices.Equal(store.Keys(), want) {
		t.Errorf("kept: %q, want %q", store.Keys(), want)
	}
	if due := b.due(t.Context(), start); !due.Equal(start) {
		t.Errorf("due %s, the copies being of the future", due)
	}
	store.Fail(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPut {
			return http.StatusBadRequest, "EntityTooLarge"
		}
		return 0, ""
	})
	if _, err := b.make(t.Context(), a.backup, start.Add(3*time.Hour), ""); !fault.Is(err, fault.Unavailable) || b.status(start) == nil {
		t.Errorf("a store that refuses: %v", err)
	}
	store.Fail(nil)
	mine := strings.Replace(address, "server?", "server/mine.tar?", 1)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"backup", mine, "--data", data}, 0},
		{[]string{"restore", mine, "--data", data + "2"}, 0},
		{[]string{"verify", "--data", data + "2"}, 0},
		{[]string{"restore", strings.Replace(address, "server?", "server/none?", 1), "--data", data + "3"}, 2},
		{[]string{"backup", bucket.Scheme + "bucket?" + address, "--data", data}, 2},
		{[]string{"backup", strings.Replace(address, "region", "regoin", 1), "--data", data}, 2},
	} {
		if code, out, errs := line(t, c.args...); code != c.code {
			t.Errorf("%s: %d, want %d: %s%s", c.args, code, c.code, out, errs)
		}
	}
	if _, err := openDepot("s3://"); err == nil {
		t.Error("a bucket without a name")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	d, _ := openDepot(address)
	if _, err := d.List(ctx); err == nil {
		t.Error("a call that has ended")
	}
}
