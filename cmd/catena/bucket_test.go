package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/fault"
)

// objects is an object store that speaks as much of the S3 protocol as copies need: one bucket, whose
// objects are written in parts.
type objects struct {
	mu      sync.Mutex
	whole   map[string][]byte
	uploads map[string]*sending // by their ids
	fails   bool                // no part is taken
}

type sending struct {
	key   string
	begun time.Time
	parts map[int][]byte
}

// inBucket starts a store and returns the address of a prefix in its bucket.
func inBucket(t *testing.T) (*objects, string) {
	t.Helper()
	o := &objects{whole: map[string][]byte{}, uploads: map[string]*sending{}}
	s := httptest.NewServer(o)
	t.Cleanup(s.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return o, bucketScheme + "copies/of/server?region=eu-1&endpoint=" + s.URL
}

// ServeHTTP answers a request.
func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := r.URL.Query()
	key, isObject := strings.CutPrefix(r.URL.Path, "/copies/")
	id := q.Get("uploadId")
	up := o.uploads[id]
	switch {
	case !isObject || !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/"):
		o.refuse(w, http.StatusForbidden, "AccessDenied")
	case q.Has("list-type"):
		o.list(w, q.Get("prefix"))
	case key == "" && q.Has("uploads"):
		o.listUploads(w, q.Get("prefix"))
	case r.Method == http.MethodPost && q.Has("uploads"):
		id = fmt.Sprint("upload", len(o.uploads))
		o.uploads[id] = &sending{key, time.Now(), map[int][]byte{}}
		o.answer(w, fmt.Sprintf("<InitiateMultipartUploadResult><Bucket>copies</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>", key, id))
	case r.Method == http.MethodPut && up != nil && !o.fails:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		up.parts[n] = content(r)
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
	case r.Method == http.MethodPost && up != nil:
		var all []byte
		for n := range len(up.parts) {
			all = append(all, up.parts[n+1]...)
		}
		o.whole[key] = all
		delete(o.uploads, id)
		o.answer(w, `<CompleteMultipartUploadResult><Bucket>copies</Bucket><Key>`+key+`</Key><ETag>"x"</ETag></CompleteMultipartUploadResult>`)
	case r.Method == http.MethodDelete:
		if delete(o.uploads, id); id == "" {
			delete(o.whole, key)
		}
		w.WriteHeader(http.StatusNoContent)
	case (r.Method == http.MethodGet || r.Method == http.MethodHead) && o.whole[key] != nil:
		w.Header().Set("ETag", `"x"`)
		http.ServeContent(w, r, key, time.Unix(1e9, 0), bytes.NewReader(o.whole[key]))
	case r.Method == http.MethodPut:
		o.refuse(w, http.StatusBadRequest, "EntityTooLarge")
	default:
		o.refuse(w, http.StatusNotFound, "NoSuchKey")
	}
}

// content is the body of a request, which is in pieces, each with a line before it, if it was signed on its way.
func content(r *http.Request) (out []byte) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		out, _ = io.ReadAll(r.Body)
		return out
	}
	for in := bufio.NewReader(r.Body); ; {
		line, _ := in.ReadString('\n')
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(size, 16, 64)
		if err != nil || n == 0 {
			return out
		}
		piece := make([]byte, n+2)
		_, _ = io.ReadFull(in, piece)
		out = append(out, piece[:n]...)
	}
}

func (o *objects) list(w http.ResponseWriter, prefix string) {
	var b strings.Builder
	for _, key := range o.keys() {
		if rest, ok := strings.CutPrefix(key, prefix); ok && !strings.Contains(rest, "/") {
			fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>", key, len(o.whole[key]))
		}
	}
	o.answer(w, "<ListBucketResult><Name>copies</Name><IsTruncated>false</IsTruncated>"+b.String()+"</ListBucketResult>")
}

func (o *objects) listUploads(w http.ResponseWriter, prefix string) {
	var b strings.Builder
	for id, up := range o.uploads {
		if strings.HasPrefix(up.key, prefix) {
			fmt.Fprintf(&b, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", up.key, id, up.begun.UTC().Format(time.RFC3339))
		}
	}
	o.answer(w, "<ListMultipartUploadsResult><Bucket>copies</Bucket><IsTruncated>false</IsTruncated>"+b.String()+"</ListMultipartUploadsResult>")
}

func (o *objects) keys() (keys []string) {
	for key := range o.whole {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func (o *objects) answer(w http.ResponseWriter, body string) {
	_, _ = io.WriteString(w, xml.Header+body)
}

func (o *objects) refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	o.answer(w, "<Error><Code>"+code+"</Code><Message>"+code+"</Message></Error>")
}

// TestDepots does with a folder and with a bucket what copies do with both.
func TestDepots(t *testing.T) {
	store, address := inBucket(t)
	store.whole["of/other"], store.whole["of/server/below/x"] = []byte("x"), []byte("x")
	for _, address := range []string{t.TempDir() + "/new", address} {
		ctx := t.Context()
		d, err := openDepot(address)
		if err != nil {
			t.Fatal(err)
		}
		holds := func(want ...string) {
			t.Helper()
			names, err := d.list(ctx)
			if names = slices.DeleteFunc(names, func(n string) bool { return n == "below/" }); err != nil || !slices.Equal(names, want) {
				t.Errorf("%s holds %q, want %q: %v", address, names, want, err)
			}
		}
		holds()
		if err := d.ready(ctx, time.Now()); err != nil {
			t.Fatal(err)
		}
		large := bytes.Repeat([]byte("0123456789abcdef"), (partSize+partSize/4)/16)
		for name, data := range map[string][]byte{"a": large, "b": []byte("small"), "c": nil} {
			if err := d.write(ctx, name, copyOf(bytes.NewReader(data))); err != nil {
				t.Fatalf("%s: %v", address, err)
			}
		}
		holds("a", "b", "c")
		broken := errors.New("broken")
		if err := d.write(ctx, "b", func(w io.Writer) error {
			_, _ = w.Write(large)
			return broken
		}); !errors.Is(err, broken) {
			t.Errorf("%s: a write that breaks off: %v", address, err)
		}
		for name, want := range map[string][]byte{"a": large, "b": []byte("small")} {
			r, err := d.open(ctx, name)
			if err != nil {
				t.Fatalf("%s: %v", address, err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %s has %d bytes, want %d: %v", address, name, len(got), len(want), err)
			}
			_ = r.Close()
		}
		if _, err := d.open(ctx, "none"); err == nil {
			t.Errorf("%s: what is not there is opened", address)
		}
		if err := d.remove(ctx, "a"); err != nil {
			t.Error(err)
		}
		holds("b", "c")
	}
	if len(store.whole["of/other"]) == 0 || len(store.uploads) > 0 {
		t.Errorf("in the bucket: %q, begun: %v", store.keys(), store.uploads)
	}
}

// TestBucketLeftovers removes uploads that were begun long ago.
func TestBucketLeftovers(t *testing.T) {
	store, address := inBucket(t)
	now := time.Now()
	store.uploads["old"] = &sending{key: "of/server/x", begun: now.Add(-time.Hour)}
	store.uploads["new"] = &sending{key: "of/server/y", begun: now.Add(time.Hour)}
	store.uploads["other"] = &sending{key: "of/another/x", begun: now.Add(-time.Hour)}
	d, err := openDepot(address)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.ready(t.Context(), now); err != nil || len(store.uploads) != 2 || store.uploads["old"] != nil {
		t.Errorf("left: %v, %v", store.uploads, err)
	}
}

// TestBackupBucket has a server keep its copies in a bucket, and makes a data directory of the newest.
func TestBackupBucket(t *testing.T) {
	store, address := inBucket(t)
	data := t.TempDir() + "/data"
	a, err := (&global{data: data, logLevel: "error", logFormat: "text"}).open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &backups{folder: address, every: time.Hour, keep: 2}
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for h := range 3 {
		if _, err := b.make(t.Context(), a.backup, start.Add(time.Duration(h)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"of/server/catena-20260301T130000Z.tar", "of/server/catena-20260301T140000Z.tar"}
	if !slices.Equal(store.keys(), want) {
		t.Errorf("kept: %q, want %q", store.keys(), want)
	}
	if due := b.due(t.Context(), start); !due.Equal(start) {
		t.Errorf("due %s, the copies being of the future", due)
	}
	store.fails = true
	if _, err := b.make(t.Context(), a.backup, start.Add(3*time.Hour)); !fault.Is(err, fault.Unavailable) || b.status(start) == nil {
		t.Errorf("a store that refuses: %v", err)
	}
	store.fails = false
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
		{[]string{"backup", bucketScheme + "copies?" + address, "--data", data}, 2},
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
	if _, err := d.list(ctx); err == nil {
		t.Error("a call that has ended")
	}
}
