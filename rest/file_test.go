package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"

	"catena/engine"
	"catena/rest/resttest"
	"catena/storage"
)

// fileOps give files back.
var fileOps = []engine.Op{
	{Name: "Test.Blob", Doc: "Returns its input.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(sameBlob)},
	{Name: "Test.Blobs", Doc: "Returns its input as often as asked.", Effect: engine.Pure, Callers: engine.Anyone, Run: engine.On(manyBlobs)},
}

func sameBlob(_ none, _ *engine.Ctx, b *engine.Blob) (*engine.Blob, error) { return b, nil }

type times struct {
	Times int64 `json:"times" doc:"How often."`
}

func manyBlobs(p times, _ *engine.Ctx, b *engine.Blob) (engine.Blobs, error) {
	out := engine.Blobs{}
	for range p.Times {
		out = append(out, b)
	}
	return out, nil
}

func startFiles(t testing.TB) *resttest.Server {
	t.Helper()
	return resttest.Start(t, resttest.Config{
		Ops:     append(fileOps, testOps...),
		Storage: func(c *storage.Config) { c.Limits.BlobSize = 1 << 20 },
	})
}

// part is one part of a multipart body.
type part struct{ disposition, typ, content string }

func multi(t testing.TB, kind string, parts ...part) (body, contentType string) {
	t.Helper()
	var buf bytes.Buffer
	w := multipart.NewWriter(&buf)
	for _, p := range parts {
		pw, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {p.disposition}, "Content-Type": {p.typ}})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(pw, p.content)
	}
	w.Close()
	return buf.String(), kind + "; boundary=" + w.Boundary()
}

func TestFilesIn(t *testing.T) {
	s := startFiles(t)
	request := part{`form-data; name="params"; filename="blob"`, "application/json", `{"params":{"times":1}}`}
	cases := []struct {
		name, kind  string
		file        part
		disposition string
		typ         string
	}{
		{
			"form", "multipart/form-data",
			part{`form-data; name="input"; filename="café.txt"`, "text/plain", "hello"},
			"attachment; filename*=UTF-8''caf%C3%A9.txt", "text/plain",
		},
		{
			"related", "multipart/related",
			part{`attachment; filename=a.bin`, "application/octet-stream", "\x00\x01\x02"},
			"attachment; filename=a.bin", "application/octet-stream",
		},
		{
			"hostile name", "multipart/form-data",
			part{`form-data; name="input"; filename="../../x.jsp"`, "text/plain", "hello"},
			"attachment; filename=x.jsp", "text/plain",
		},
	}
	for _, c := range cases {
		body, typ := multi(t, c.kind, request, c.file)
		got := s.Do("POST", "/nuxeo/site/automation/Test.Blob", body, "Content-Type", typ)
		if got.StatusCode != http.StatusOK || got.Text != c.file.content || got.Header.Get("Content-Disposition") != c.disposition ||
			!strings.HasPrefix(got.Header.Get("Content-Type"), c.typ) {
			t.Errorf("%s: %d %q %v", c.name, got.StatusCode, got.Text, got.Header)
		}
	}
	body, typ := multi(t, "multipart/form-data", request)
	if got := s.Do("POST", "/api/v1/automation/Test.Blob", body, "Content-Type", typ); got.StatusCode != http.StatusBadRequest {
		t.Errorf("only one part: %d %s", got.StatusCode, got.Text)
	}
	body, typ = multi(t, "multipart/form-data", request, part{`form-data; name="f"; filename="f"`, "text/plain", strings.Repeat("x", 2<<20)})
	if got := s.Do("POST", "/api/v1/automation/Test.Blob", body, "Content-Type", typ); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("POST", "/api/v1/automation/Test.Blob", body[:1000], "Content-Type", typ); got.StatusCode != http.StatusBadRequest {
		t.Errorf("broken off: %d %s", got.StatusCode, got.Text)
	}
}

func TestFilesOut(t *testing.T) {
	s := startFiles(t)
	for _, n := range []int{0, 2} {
		body, typ := multi(t, "multipart/related",
			part{`attachment; name="request"`, "application/json", fmt.Sprintf(`{"params":{"times":%d}}`, n)},
			part{`attachment; filename="é.txt"`, "text/plain", "hello"})
		got := s.Do("POST", "/api/v1/automation/Test.Blobs", body, "Content-Type", typ)
		if n == 0 {
			if got.StatusCode != http.StatusNoContent {
				t.Errorf("none: %d %s", got.StatusCode, got.Text)
			}
			continue
		}
		kind, ps, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
		if err != nil || kind != "multipart/mixed" {
			t.Fatalf("%d %s %v", got.StatusCode, kind, err)
		}
		r, count := multipart.NewReader(strings.NewReader(got.Text), ps["boundary"]), 0
		for p, err := r.NextPart(); err == nil; p, err = r.NextPart() {
			content, _ := io.ReadAll(p)
			if string(content) != "hello" || p.Header.Get("Content-Disposition") != "attachment; filename*=UTF-8''%C3%A9.txt" {
				t.Errorf("part %d: %s %v", count, content, p.Header)
			}
			count++
		}
		if count != n {
			t.Errorf("%d parts, want %d", count, n)
		}
	}
}

func TestBlobAdapter(t *testing.T) {
	s := startFiles(t)
	if got := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, "f")); got.StatusCode != http.StatusCreated {
		t.Fatal(got.Text)
	}
	doc := "/nuxeo/api/v1/path/default-domain/workspaces/f"
	if got := s.Do("GET", doc+"/@blob/file:content", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("no file yet: %d %s", got.StatusCode, got.Text)
	}
	body, typ := multi(t, "multipart/form-data", part{`form-data; name="content"; filename="a.txt"`, "text/plain", "0123456789"})
	if got := s.Do("PUT", doc+"/@blob/file:content", body, "Content-Type", typ); got.StatusCode != http.StatusOK {
		t.Fatalf("put: %d %s", got.StatusCode, got.Text)
	}
	whole := s.Do("GET", doc+"/@blob/file:content", "")
	tag, modified := whole.Header.Get("ETag"), whole.Header.Get("Last-Modified")
	if whole.StatusCode != http.StatusOK || whole.Text != "0123456789" || whole.Header.Get("Accept-Ranges") != "bytes" || tag == "" || modified == "" {
		t.Errorf("whole: %d %q %v", whole.StatusCode, whole.Text, whole.Header)
	}
	cases := []struct {
		name, method string
		headers      []string
		status       int
		text, ranged string
	}{
		{"range", "GET", []string{"Range", "bytes=2-4"}, 206, "234", "bytes 2-4/10"},
		{"open range", "GET", []string{"Range", "bytes=7-"}, 206, "789", "bytes 7-9/10"},
		{"last", "GET", []string{"Range", "bytes=-2"}, 206, "89", "bytes 8-9/10"},
		{"several", "GET", []string{"Range", "bytes=0-1,3-4"}, 200, "0123456789", ""},
		{"unreadable", "GET", []string{"Range", "bytes=a-b"}, 200, "0123456789", ""},
		{"if range", "GET", []string{"Range", "bytes=0-1", "If-Range", tag}, 206, "01", "bytes 0-1/10"},
		{"if range, other", "GET", []string{"Range", "bytes=0-1", "If-Range", `"x"`}, 200, "0123456789", ""},
		{"same tag", "GET", []string{"If-None-Match", tag}, 304, "", ""},
		{"same time", "GET", []string{"If-Modified-Since", modified}, 304, "", ""},
		{"head", "HEAD", nil, 200, "", ""},
	}
	for _, c := range cases {
		got := s.Do(c.method, doc+"/@blob/file:content", "", c.headers...)
		if got.StatusCode != c.status || got.Text != c.text || got.Header.Get("Content-Range") != c.ranged {
			t.Errorf("%s: %d %q %v", c.name, got.StatusCode, got.Text, got.Header)
		}
		if c.method == "HEAD" && got.Header.Get("Content-Length") != "10" {
			t.Errorf("HEAD: length %s", got.Header.Get("Content-Length"))
		}
	}
	digests := map[string]string{"md5": "MD5=eB5eJF1ptWaXm4bijSPyxw==", "sha-256": "SHA-256=hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII="}
	for want, digest := range digests {
		if got := s.Do("GET", doc+"/@blob/file:content", "", "Want-Digest", want); got.Header.Get("Digest") != digest || got.Text != "0123456789" {
			t.Errorf("%s: %s", want, got.Header.Get("Digest"))
		}
	}
	entity := s.Do("GET", doc, "", "properties", "file").JSON(t)
	content := entity["properties"].(map[string]any)["file:content"].(map[string]any)
	address := strings.TrimPrefix(content["data"].(string), s.URL)
	if got := s.Do("GET", address+"&inline=true", ""); got.Text != "0123456789" || got.Header.Get("Content-Disposition") != "inline; filename=a.txt" {
		t.Errorf("%s: %d %s", address, got.StatusCode, got.Text)
	}
	if got := s.Do("POST", doc+"/@blob/file:content/@op/Test.Blob", "{}"); got.StatusCode != http.StatusOK || got.Text != "0123456789" {
		t.Errorf("operation on a file: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("DELETE", doc+"/@blob/file:content", ""); got.StatusCode != http.StatusNoContent {
		t.Errorf("delete: %d %s", got.StatusCode, got.Text)
	}
	if got := s.Do("GET", doc+"/@blob/blobholder:01", ""); got.StatusCode != http.StatusNotFound {
		t.Errorf("odd holder: %d", got.StatusCode)
	}
}

func TestAdaptersChain(t *testing.T) {
	s := startFiles(t)
	for i := range 3 {
		if got := s.Do("POST", "/api/v1/path/default-domain/workspaces", fmt.Sprintf(document, fmt.Sprint("d", i))); got.StatusCode != http.StatusCreated {
			t.Fatal(got.Text)
		}
	}
	base := "/api/v1/path/default-domain/workspaces"
	got := s.Do("POST", base+"/@children/@op/Document.SetProperty", `{"params":{"xpath":"dc:description","value":"x"}}`, "properties", "*")
	if got.StatusCode != http.StatusOK || strings.Count(got.Text, `"dc:description":"x"`) != 3 {
		t.Errorf("operation on children: %d %.300s", got.StatusCode, got.Text)
	}
	page := s.Do("GET", base+"/@children?pageSize=2", "").JSON(t)
	if len(page["entries"].([]any)) != 2 || page["resultsCount"] != -2.0 || page["isNextPageAvailable"] != true {
		t.Errorf("page: %v", page)
	}
	one := s.Do("POST", base+"/d0/@op/Document.GetParent", "{}")
	if one.StatusCode != http.StatusOK || one.JSON(t)["path"] != "/default-domain/workspaces" {
		t.Errorf("operation on a document: %d %s", one.StatusCode, one.Text)
	}
}
