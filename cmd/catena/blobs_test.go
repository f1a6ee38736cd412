package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob/bucket/buckettest"
	"catena/storage/fault"
)

// contentIn opens a data directory and makes documents in it whose content is too large for rows, unless they are there; it
// returns the digests.
func contentIn(t *testing.T, data, blobs string) (digests []string) {
	t.Helper()
	a, err := (&global{data: data, blobs: blobs, logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.close(); err != nil {
			t.Error(err)
		}
	}()
	err = a.repo.Update(t.Context(), a.repo.System(), func(tx *storage.Tx) error {
		for i, name := range []string{"a", "b", "c", "d"} {
			content := make([]byte, 100_000+i)
			_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(content)
			sum := sha256.Sum256(content)
			digests = append(digests, hex.EncodeToString(sum[:]))
			if d, err := tx.Doc(storage.Ref("/" + name)); err == nil {
				v, err := d.Get("file:content")
				if err != nil {
					return err
				}
				got, err := v.(*storage.Blob).Bytes(0)
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s: %d bytes, %v", name, len(got), err)
				}
				continue
			}
			b, err := tx.NewBlob(name, "", bytes.NewReader(content))
			if err != nil {
				return err
			}
			root, err := tx.Root()
			if err != nil {
				return err
			}
			if _, err := tx.Create(root, "File", name, storage.Props{"file:content": b}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(digests)
	return digests
}

// TestBlobsMove moves content to a bucket, to another and back, with everything there at every moment; makes copies of
// it in each place; and refuses places that are not those of the content.
func TestBlobsMove(t *testing.T) {
	store, data := buckettest.New(t), filepath.Join(t.TempDir(), "data")
	first, second := store.Address("first"), store.Address("second")
	does := func(want int, text string, args ...string) {
		t.Helper()
		if code, out, errs := line(t, args...); code != want || !strings.Contains(out+errs, text) {
			t.Errorf("%s: %d, want %d %q: %s%s", args, code, want, text, out, errs)
		}
	}
	in := func(prefix string, more ...string) []string {
		var keys []string
		for _, k := range append(more, "owner") {
			keys = append(keys, prefix+"/"+k)
		}
		return keys
	}
	all := contentIn(t, data, "")
	does(2, "already contains files", "verify", "--data", data, "--blobs", first)
	does(0, "4 sent", "blobs", "move", first, "--data", data, "--blobs", first)
	if want := in("first", all...); !slices.Equal(store.Keys(), want) {
		t.Errorf("in the bucket: %q, want %q", store.Keys(), want)
	}
	if names := filesIn(t, filepath.Join(data, "blobs")); slices.ContainsFunc(names, func(n string) bool {
		return len(n) == 2 && len(filesIn(t, filepath.Join(data, "blobs", n, filesIn(t, filepath.Join(data, "blobs", n))[0]))) > 0
	}) {
		t.Errorf("in the folder: %q", names)
	}
	does(0, "0 sent", "blobs", "move", first, "--data", data)
	contentIn(t, data, "")
	does(0, "as it should", "verify", "--data", data, "--blobs", first)
	does(2, "does not exist", "verify", "--data", data, "--blobs", second)
	does(2, "another data directory", "init", "--data", data+"2", "--blobs", first)
	if _, err := os.Stat(filepath.Join(data+"2", "store")); err == nil {
		t.Error("a store without a place for its content")
	}

	broken := store.Get("first/" + all[2])
	store.Set("first/"+all[2], bytes.ToUpper(broken), time.Now())
	does(4, "is damaged", "blobs", "move", second, "--data", data)
	store.Set("first/"+all[2], broken, time.Now())
	does(0, "sent", "blobs", "move", second, "--data", data)
	contentIn(t, data, second)
	archive := filepath.Join(t.TempDir(), "copy.tar")
	does(0, "", "backup", archive, "--data", data)
	does(2, "another data directory", "restore", archive, "--data", data+"3", "--blobs", second)
	does(0, "restored", "restore", archive, "--data", data+"3", "--blobs", store.Address("third"))
	does(0, "restored", "restore", archive, "--data", data+"4")
	contentIn(t, data+"3", "")
	contentIn(t, data+"4", "")
	if p, err := locationIn(data + "4"); err != nil || p.Address != "" {
		t.Errorf("%+v, %v", p, err)
	}
	store.Set("second/"+all[0], nil, time.Now())
	does(4, all[0]+" is missing", "verify", "--data", data)
	store.Set("second/"+all[0], store.Get("third/"+all[0]), time.Now())
	does(0, "4 sent", "blobs", "move", "folder", "--data", data)
	contentIn(t, data, "")
	if names := filesIn(t, filepath.Join(data, "blobs")); slices.Contains(names, "cache") || slices.Contains(names, "kept") {
		t.Errorf("in the folder: %q", names)
	}
	does(2, "BUCKET/PREFIX", "blobs", "move", "nowhere", "--data", data)
	does(2, "a data directory that no server uses", "blobs", "move", "folder", "--server", "http://127.0.0.1:1")
}

// TestDoctorLooksAtContent has the doctor look at a bucket that can be used, and at what cannot.
func TestDoctorLooksAtContent(t *testing.T) {
	store, data := buckettest.New(t), t.TempDir()
	expect := func(want int, state, text string, args ...string) {
		t.Helper()
		found := examined(t, want, append([]string{"--data", data, "--chromium", "off", "--addr", "127.0.0.1:0"}, args...)...)
		if f := found["content"]; f.State != state || !strings.Contains(f.Text+" "+f.Advice, text) {
			t.Errorf("%s: %+v, want %s: %s", args, f, state, text)
		}
	}
	expect(0, fine, "in the data directory")
	expect(0, fine, "can be read and written", "--blobs", store.Address("a"))
	if len(store.Keys()) > 0 {
		t.Errorf("left %q", store.Keys())
	}
	expect(1, failed, "NoSuchBucket", "--blobs", strings.Replace(store.Address("a"), "bucket", "other", 1))
	expect(1, failed, "BUCKET/PREFIX", "--blobs", "x")
	contentIn(t, data, store.Address("a"))
	expect(0, fine, "can be read and written")
	expect(1, failed, "does not belong to this data directory", "--blobs", store.Address("b"))
	store.Set("a/owner", []byte("somebody"), time.Now())
	expect(1, failed, "another data directory")
	store.Fail(func(r *http.Request) (int, string) {
		if r.Method == http.MethodPut {
			return http.StatusForbidden, "AccessDenied"
		}
		return 0, ""
	})
	store.Set("a/owner", nil, time.Now())
	if err := os.Remove(filepath.Join(data, locationFile)); err != nil {
		t.Fatal(err)
	}
	expect(1, failed, "permit the keys to", "--blobs", store.Address("a"))
}

// TestAnswering counts an object store as gone once it did not answer several times in a row.
func TestAnswering(t *testing.T) {
	var w answering
	gone := errors.New("gone")
	for i, c := range []struct {
		came error
		want error
	}{{gone, nil}, {gone, nil}, {nil, nil}, {gone, nil}, {gone, nil}, {gone, gone}, {gone, gone}, {nil, nil}, {gone, nil}} {
		if w.note(c.came); !errors.Is(w.status(t.Context()), c.want) {
			t.Errorf("%d: %v, want %v", i, w.status(t.Context()), c.want)
		}
	}
}

// TestKilledWhileSending kills a server in the middle of what it sends to the bucket: nothing was acknowledged, nothing is half
// there, and what was left goes when it starts again.
func TestKilledWhileSending(t *testing.T) {
	store, dir := buckettest.New(t), t.TempDir()
	p := startServer(t, dir, "--blobs", store.Address(""))
	var opened struct{ BatchID string }
	if _, body := administer(t, http.MethodPost, p.base+"/api/v1/upload", "", ""); json.Unmarshal([]byte(body), &opened) != nil {
		t.Fatal(body)
	}
	killed := make(chan struct{})
	store.Fail(func(r *http.Request) (int, string) {
		if r.URL.Query().Get("partNumber") != "2" {
			return 0, ""
		}
		select {
		case <-killed:
		default:
			p.kill()
			close(killed)
		}
		return -1, ""
	})
	content := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	resp, err := admin(t.Context(), http.MethodPost, p.base+"/api/v1/upload/"+opened.BatchID+"/0", "application/octet-stream", bytes.NewReader(content))
	if err == nil {
		t.Fatalf("it answered: %d %s", resp.StatusCode, whole(t, resp))
	}
	<-killed
	store.Fail(nil)
	if len(store.Begun()) != 1 || !slices.Equal(store.Keys(), []string{"owner"}) {
		t.Errorf("begun %q, there %q", store.Begun(), store.Keys())
	}
	p = startServer(t, dir)
	if len(store.Begun()) > 0 {
		t.Errorf("begun %q", store.Begun())
	}
	resp, err = admin(t.Context(), http.MethodPost, p.base+"/api/v1/upload/"+opened.BatchID+"/0", "application/octet-stream", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if body := whole(t, resp); resp.StatusCode != http.StatusCreated || len(store.Keys()) != 2 {
		t.Errorf("again: %d %s, there %q", resp.StatusCode, body, store.Keys())
	}
	if _, body := get(t, p.base+"/readyz"); !strings.Contains(body, `"contentStatus":"ok"`) {
		t.Error(body)
	}
}

// TestBucketRefuses tells clients that content cannot be had now, and not where it is.
func TestBucketRefuses(t *testing.T) {
	store, data := buckettest.New(t), t.TempDir()
	contentIn(t, data, store.Address(""))
	if err := os.RemoveAll(filepath.Join(data, "blobs", "cache")); err != nil {
		t.Fatal(err)
	}
	a, err := (&global{data: data, logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	c, err := a.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	store.Fail(func(*http.Request) (int, string) { return http.StatusForbidden, "AccessDenied" })
	_, err = c.send(t.Context(), http.MethodGet, "/api/v1/path/a/@blob/file:content", "", nil)
	if !fault.Is(err, fault.Unavailable) || strings.Contains(err.Error(), "://") {
		t.Errorf("refused: %v", err)
	}
	store.Fail(nil)
	resp, err := c.send(t.Context(), http.MethodGet, "/api/v1/path/a/@blob/file:content", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := whole(t, resp); len(got) != 100_000 {
		t.Errorf("%d bytes", len(got))
	}
}
