// Package buckettest is an object store for tests. It has one bucket and speaks as much of the S3 protocol as this server
// needs: objects written at once or in parts, with their checksums, only where there is none if that is asked for; read in
// ranges; and listed in pages. Tests may have it fail.
package buckettest

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // of the protocol
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// page is how many names of a list come at once.
const page = 3

// Store is the object store.
type Store struct {
	url string

	mu      sync.Mutex
	objects map[string]object
	uploads map[string]*upload // by their ids
	begun   int
	answers func(*http.Request) (status int, code string)
	asked   []string
}

type object struct {
	data []byte
	mod  time.Time
}

type upload struct {
	key   string
	begun time.Time
	parts map[int][]byte
}

// New starts a store, whose keys are in the environment until the test ends.
func New(t testing.TB) *Store {
	t.Helper()
	s := &Store{objects: map[string]object{}, uploads: map[string]*upload{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	return s
}

// Address is the address of a prefix in the bucket.
func (s *Store) Address(prefix string) string {
	return "s3://bucket/" + prefix + "?region=eu-1&endpoint=" + s.url
}

// Keys are those of all objects, in order.
func (s *Store) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Get returns an object, nil if there is none.
func (s *Store) Get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[key].data
}

// Set makes an object that was written at a moment, or removes it if data is nil.
func (s *Store) Set(key string, data []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.objects[key] = (object{data, at}); data == nil {
		delete(s.objects, key)
	}
}

// Begin begins to write an object in parts, as somebody who breaks off, and Begun returns the keys of all such.
func (s *Store) Begin(key string, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(key, at)
}

// Begun returns the keys of the objects that are being written in parts.
func (s *Store) Begun() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		keys = append(keys, u.key)
	}
	slices.Sort(keys)
	return keys
}

// Fail has the store answer requests as fn says, with a status and a code of the protocol, and those for which it returns
// 0 as usual. A negative status breaks the connection off, in the middle of the object for requests that read one. fn nil ends that.
func (s *Store) Fail(fn func(*http.Request) (status int, code string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers = fn
}

// Asked returns the requests since it was last called: method and key, and range if there is one.
func (s *Store) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// errBody is a body that was interrupted or is not what its checksum says.
var errBody = errors.New("body")

// ServeHTTP answers a request.
func (s *Store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key, isObject := strings.CutPrefix(r.URL.Path, "/bucket/")
	var data []byte
	var broken error
	if r.Method == http.MethodPut {
		data, broken = content(r)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+key+" "+r.Header.Get("Range")))
	q := r.URL.Query()
	switch {
	case s.fails(w, r, key):
	case !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=key/"):
		refuse(w, http.StatusForbidden, "AccessDenied")
	case !isObject:
		refuse(w, http.StatusNotFound, "NoSuchBucket")
	case broken != nil:
		refuse(w, http.StatusBadRequest, "BadDigest")
	case q.Has("list-type"):
		s.list(w, q.Get("prefix"), q.Get("delimiter"), q.Get("continuation-token"))
	case key == "" && q.Has("uploads"):
		s.listUploads(w, q.Get("prefix"))
	case q.Has("uploadId") || q.Has("uploads"):
		s.part(w, r, key, data)
	case r.Header.Get("If-None-Match") == "*" && s.objects[key].data != nil:
		refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Method == http.MethodPut:
		s.objects[key] = object{data, time.Now()}
		w.Header().Set("ETag", `"x"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.read(w, r, key)
	}
}

// fails answers a request that is to fail.
func (s *Store) fails(w http.ResponseWriter, r *http.Request, key string) bool {
	if s.answers == nil {
		return false
	}
	status, code := s.answers(r)
	if status < 0 && r.Method == http.MethodGet && len(s.objects[key].data) > 1 {
		s.half(w, r, key)
	}
	if status < 0 {
		panic(http.ErrAbortHandler)
	}
	if status > 0 {
		refuse(w, status, code)
	}
	return status > 0
}

func (s *Store) read(w http.ResponseWriter, r *http.Request, key string) {
	o, there := s.objects[key]
	if !there {
		refuse(w, http.StatusNotFound, "NoSuchKey")
		return
	}
	w.Header().Set("ETag", `"x"`)
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		if first, _, _ := strings.Cut(from, "-"); atoi(first) >= len(o.data) {
			refuse(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange")
			return
		}
	}
	http.ServeContent(w, r, "", o.mod, bytes.NewReader(o.data))
}

// half answers with the first half of what is asked for.
func (s *Store) half(w http.ResponseWriter, r *http.Request, key string) {
	whole := httptest.NewRecorder()
	s.read(whole, r, key)
	maps.Copy(w.Header(), whole.Header())
	w.WriteHeader(whole.Code)
	_, _ = w.Write(whole.Body.Bytes()[:whole.Body.Len()/2])
	_ = http.NewResponseController(w).Flush()
}

// part is what is done with an object that is written in parts.
func (s *Store) part(w http.ResponseWriter, r *http.Request, key string, data []byte) {
	q := r.URL.Query()
	u := s.uploads[q.Get("uploadId")]
	switch {
	case r.Method == http.MethodPost && q.Has("uploads"):
		id := s.begin(key, time.Now())
		answer(w, fmt.Sprintf("<InitiateMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><UploadId>%s</UploadId></InitiateMultipartUploadResult>", key, id))
	case u == nil || u.key != key:
		refuse(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut:
		u.parts[atoi(q.Get("partNumber"))] = data
		w.Header().Set("ETag", fmt.Sprintf("%q", q.Get("partNumber")))
	case r.Method == http.MethodDelete:
		delete(s.uploads, q.Get("uploadId"))
		w.WriteHeader(http.StatusNoContent)
	default:
		var all []byte
		for n := range len(u.parts) {
			all = append(all, u.parts[n+1]...)
		}
		s.objects[key] = object{all, time.Now()}
		delete(s.uploads, q.Get("uploadId"))
		answer(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>"+key+`</Key><ETag>"x"</ETag></CompleteMultipartUploadResult>`)
	}
}

func (s *Store) begin(key string, at time.Time) (id string) {
	s.begun++
	id = fmt.Sprint("upload", s.begun)
	s.uploads[id] = &upload{key, at, map[int][]byte{}}
	return id
}

// content is the body of a request, which is in pieces, each with a line before it, if it was signed on its way.
func content(r *http.Request) (out []byte, err error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING") {
		out, err = io.ReadAll(r.Body)
	} else {
		out, err = pieces(bufio.NewReader(r.Body))
	}
	sum := md5.Sum(out) //nolint:gosec // of the protocol
	if says := r.Header.Get("Content-Md5"); err == nil && says != "" && says != base64.StdEncoding.EncodeToString(sum[:]) {
		err = errBody
	}
	return out, err
}

func pieces(in *bufio.Reader) (out []byte, err error) {
	for {
		line, err := in.ReadString('\n')
		size, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, bad := strconv.ParseInt(size, 16, 64)
		if err != nil || bad != nil {
			return nil, errBody
		}
		if n == 0 {
			return out, nil
		}
		piece := make([]byte, n+2)
		if _, err := io.ReadFull(in, piece); err != nil {
			return nil, err
		}
		out = append(out, piece[:n]...)
	}
}

// list is a page of the names after the one that a token says.
func (s *Store) list(w http.ResponseWriter, prefix, delimiter, token string) {
	after, _ := hex.DecodeString(token)
	var b strings.Builder
	n, last, more, common := 0, "", false, map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok || key <= string(after) {
			continue
		}
		if n == page {
			more = true
			break
		}
		last = key
		if below, _, found := strings.Cut(rest, "/"); found && delimiter == "/" {
			if !common[below] {
				common[below] = true
				fmt.Fprintf(&b, "<CommonPrefixes><Prefix>%s/</Prefix></CommonPrefixes>", prefix+below)
			}
			continue
		}
		n++
		fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified></Contents>", key, len(s.objects[key].data), s.objects[key].mod.UTC().Format(time.RFC3339))
	}
	next := ""
	if more {
		next = "<NextContinuationToken>" + hex.EncodeToString([]byte(last)) + "</NextContinuationToken>"
	}
	answer(w, fmt.Sprintf("<ListBucketResult><Name>bucket</Name><IsTruncated>%t</IsTruncated>%s%s</ListBucketResult>", more, next, &b))
}

func (s *Store) listUploads(w http.ResponseWriter, prefix string) {
	var b strings.Builder
	for id, u := range s.uploads {
		if strings.HasPrefix(u.key, prefix) {
			fmt.Fprintf(&b, "<Upload><Key>%s</Key><UploadId>%s</UploadId><Initiated>%s</Initiated></Upload>", u.key, id, u.begun.UTC().Format(time.RFC3339))
		}
	}
	answer(w, "<ListMultipartUploadsResult><Bucket>bucket</Bucket><IsTruncated>false</IsTruncated>"+b.String()+"</ListMultipartUploadsResult>")
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func answer(w http.ResponseWriter, body string) { _, _ = io.WriteString(w, xml.Header+body) }

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	answer(w, "<Error><Code>"+code+"</Code><Message>"+code+"</Message></Error>")
}
