package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/decks"
	"catena/decks/export"
	"catena/engine"
	"catena/engine/pdf"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/outbox"
)

// TestDamagedDownload changes a bit of a file of three blocks. What does not need the damaged block is answered as ever; what
// begins with it is refused with a code and the name of the document; what comes to it breaks off before.
func TestDamagedDownload(t *testing.T) {
	const block = 256 << 10
	dir := t.TempDir()
	blobs, err := blob.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) { c.Blobs = blobs }})
	text := strings.Repeat("0123456789abcdef", 2*block/16) + "end"
	at := withFile(t, s, "a.bin", "application/octet-stream", text) + "/@blob/file:content"
	digest := strings.Trim(s.Do("HEAD", at, "").Header.Get("Etag"), `"`)
	file := filepath.Join(dir, digest[:2], digest[2:4], digest)
	flip := func(at int64) {
		data, err := os.ReadFile(file)
		if err == nil {
			data = bytes.Clone(data)
			data[at] ^= 4
			err = os.WriteFile(file, data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	flip(block + 17)
	for _, c := range []struct {
		from, to int
		status   int
	}{
		{0, block - 1, 206},
		{100, 200, 206},
		{2 * block, 2*block + 2, 206},
		{block, block, 500},
		{block + 17, 2*block + 1, 500},
		{2*block - 1, 2*block - 1, 500},
	} {
		a := s.Do("GET", at, "", "Range", fmt.Sprintf("bytes=%d-%d", c.from, c.to))
		if a.StatusCode != c.status || c.status == 206 && a.Text != text[c.from:c.to+1] {
			t.Errorf("%d-%d: %s, %d bytes", c.from, c.to, a.Status, len(a.Text))
		}
		if c.status == 500 && (!strings.Contains(a.Text, `"code":"content_damaged"`) || !strings.Contains(a.Text, "document /a.bin, file:content: content "+digest) || a.Header.Get("Etag") != "") {
			t.Errorf("%d-%d: %s %v", c.from, c.to, a.Text, a.Header)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("Administrator", resttest.Password)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got bytes.Buffer
	if _, err := got.ReadFrom(resp.Body); err == nil || got.String() != text[:block] {
		t.Errorf("whole: %d bytes, %v", got.Len(), err)
	}
	flip(3)
	for _, method := range []string{"GET", "HEAD"} {
		if a := s.Do(method, at, ""); a.StatusCode != http.StatusInternalServerError || a.Header.Get("Etag") != "" {
			t.Errorf("%s: %s %v", method, a.Status, a.Header)
		}
	}
	a := s.Do("POST", api+"/automation/Blob.BulkDownload", `{"input":"/a.bin","params":{}}`)
	if a.StatusCode == http.StatusOK {
		t.Errorf("operation: %s", a.Status)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if a := s.Do("GET", at, ""); a.StatusCode != http.StatusInternalServerError || !strings.Contains(a.Text, "is missing") || !strings.Contains(a.Text, "content_damaged") {
		t.Errorf("missing: %s %s", a.Status, a.Text)
	}
}

// spoil changes a bit of a file of the blob store.
func spoil(t *testing.T, dir, digest string) {
	t.Helper()
	file := filepath.Join(dir, digest[:2], digest[2:4], digest)
	data, err := os.ReadFile(file)
	if err == nil {
		data[1000] ^= 1
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDamagedReaders asks everything that reads files for files in which a bit is changed. All say so with the code, and
// nothing of the damaged block is sent.
func TestDamagedReaders(t *testing.T) {
	drawer, err := exec.LookPath("pdftoppm")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blobs, err := blob.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = blobs.Close() })
	s := resttest.Start(t, resttest.Config{
		Repo: decks.Listen, Ops: decks.Ops(),
		Storage: func(c *storage.Config) { c.Blobs = blobs },
		Engine:  func(c *engine.Config) { c.PDF = pdf.New(nil, drawer, pdf.Limits{}) },
	})
	const mark = "the damaged block"
	for name, typ := range map[string]string{
		"a.txt": "text/plain", "a.pdf": "application/pdf", "a.png": "image/png", "a.html": "text/html",
	} {
		at := withFile(t, s, name, typ, mark+strings.Repeat(name, 50_000)) + "/@blob/file:content"
		spoil(t, dir, strings.Trim(s.Do("HEAD", at, "").Header.Get("Etag"), `"`))
	}
	s.User("alice")
	makeDeck(t, s, map[string]any{"title": "Talk", "data": `<section><img src="files/1/dot.svg"></section>`})
	expect(t, s.Do("POST", "/v1/decks/1/files?name=dot", `<svg xmlns="http://www.w3.org/2000/svg"><!-- `+mark+strings.Repeat("dot ", 50_000)+`--></svg>`, "as", "alice", "Content-Type", "image/svg+xml"), 201, "")
	spoil(t, dir, strings.Trim(s.Do("HEAD", "/v1/decks/1/files/1", "", "as", "alice").Header.Get("Etag"), `"`))
	get := func(path string) func() *resttest.Answer {
		return func() *resttest.Answer { return s.Do("GET", api+"/path/"+path, "") }
	}
	run := func(op, doc, params string) func() *resttest.Answer {
		return func() *resttest.Answer {
			return s.Do("POST", api+"/automation/"+op, fmt.Sprintf(`{"input":"/%s","params":{%s}}`, doc, params))
		}
	}
	runOn := func(op, doc, params string) func() *resttest.Answer {
		return func() *resttest.Answer {
			return s.Do("POST", api+"/path/"+doc+"/@blob/file:content/@op/"+op, `{"params":{`+params+`}}`)
		}
	}
	for name, ask := range map[string]func() *resttest.Answer{
		"digest": func() *resttest.Answer {
			return s.Do("GET", api+"/path/a.txt/@blob/file:content", "", "Want-Digest", "md5")
		},
		"picture of a deck":   func() *resttest.Answer { return s.Do("GET", "/v1/decks/1/files/1", "", "as", "alice") },
		"zip":                 run("Blob.BulkDownload", "a.txt", ""),
		"zip of files":        runOn("Blob.CreateZip", "a.txt", ""),
		"pictures of a PDF":   run("PDF.ConvertToPictures", "a.pdf", ""),
		"conversion of text":  get("a.txt/@convert?format=html"),
		"conversion of HTML":  get("a.html/@convert?format=pdf"),
		"conversion to PDF":   run("Blob.ToPDF", "a.txt", ""),
		"conversion by name":  runOn("Blob.RunConverter", "a.txt", `"converter":"office2html"`),
		"preview":             get("a.txt/@preview"),
		"thumbnail":           get("a.png/@rendition/thumbnail"),
		"picture":             runOn("Image.Blob.Resize", "a.png", `"maxWidth":10,"maxHeight":10`),
		"text of a PDF":       run("PDF.ExtractText", "a.pdf", ""),
		"facts of a PDF":      run("PDF.ExtractInfo", "a.pdf", ""),
		"pages of a PDF":      run("PDF.ExtractPages", "a.pdf", `"startPage":1,"endPage":1`),
		"links of a PDF":      runOn("PDF.ExtractLinks", "a.pdf", `"getAll":true`),
		"numbers on a PDF":    runOn("PDF.AddPageNumbers", "a.pdf", ""),
		"PDF with a password": runOn("PDF.Encrypt", "a.pdf", `"originalOwnerPwd":"","ownerPwd":"a","userPwd":"b"`),
		"export as zip":       get("a.txt/@rendition/zipExport"),
	} {
		t.Run(name, func(t *testing.T) {
			a := ask()
			if a.StatusCode != http.StatusInternalServerError || !strings.Contains(a.Text, `"code":"content_damaged"`) {
				t.Errorf("%s %.600s", a.Status, a.Text)
			}
			if strings.Contains(a.Text, mark) {
				t.Error("the damaged block is sent")
			}
		})
	}
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_operation","arguments":{"operation":"PDF.ExtractText","input":"/a.pdf"}}}`
	a := s.Do("POST", "/mcp/automation", call, "Accept", "application/json, text/event-stream")
	if !strings.Contains(a.Text, `"isError":true`) || !strings.Contains(a.Text, "content_damaged") || strings.Contains(a.Text, mark) {
		t.Errorf("tool: %s %.600s", a.Status, a.Text)
	}
	expect(t, s.Do("POST", "/v1/decks/1/exports", `{"format":"zip"}`, "as", "alice"), 202, "")
	w := &export.Worker{Repo: s.Repo, Log: slog.New(slog.DiscardHandler)}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- outbox.Run(ctx, s.Repo, w.Jobs()) }()
	defer func() { stop(); <-done }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		a := s.Do("GET", "/v1/decks/1/exports/1", "", "as", "alice")
		if strings.Contains(a.Text, `"status":"pending"`) && time.Now().Before(end) {
			continue
		}
		if !strings.Contains(a.Text, `"warnings":["files/1/dot.svg: its content is damaged"]`) {
			t.Errorf("export: %s", a.Text)
		}
		break
	}
}
