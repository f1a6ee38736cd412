package rest_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/blob"
)

const api = "/nuxeo/api/v1"

// batch opens a batch and returns its address.
func batch(t *testing.T, s *resttest.Server, as ...string) string {
	t.Helper()
	a := s.Do("POST", api+"/upload/", "", as...)
	id, _ := a.JSON(t)["batchId"].(string)
	if a.StatusCode != http.StatusCreated || !strings.HasPrefix(id, "batchId-") {
		t.Fatalf("%s %s", a.Status, a.Text)
	}
	return api + "/upload/" + id
}

// expect checks the status and the body of an answer; "" is any body.
func expect(t *testing.T, a *resttest.Answer, status int, body string) {
	t.Helper()
	if a.StatusCode != status || body != "" && a.Text != body {
		t.Errorf("%s %s: %s %s\nwant %d %s", a.Request.Method, a.Request.URL.Path, a.Status, a.Text, status, body)
	}
}

func TestUploadNames(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := batch(t, s)
	for sent, want := range map[string]string{
		"24%5C06.txt": `24\\06.txt`, `C:%5CUsers%5Cada%5Ca.txt`: "a.txt", "%5C%5Cserver%5Ca.txt": "a.txt", `..%5C..%5Ca.txt`: "a.txt", `a%5C..%5Cb.txt`: "b.txt", "a%2Fb.txt": "b.txt",
	} {
		expect(t, s.Do("POST", at+"/0", "x", "X-File-Name", sent), 201, "")
		expect(t, s.Do("GET", at+"/0", ""), 200, `{"name":"`+want+`","size":1,"uploadType":"normal"}`)
		expect(t, s.Do("DELETE", at+"/0", ""), 204, "")
	}
}

func TestUploadFiles(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := batch(t, s)
	id := at[strings.LastIndexByte(at, '/')+1:]
	expect(t, s.Do("GET", at, ""), 204, "")
	expect(t, s.Do("POST", at+"/0", "abc", "X-File-Name", "caf%C3%A9%20%2B.txt", "X-File-Type", "text/plain", "Content-Type", "application/octet-stream"), 201,
		`{"batchId":"`+id+`","fileIdx":"0","uploadType":"normal","uploaded":"true","uploadedSize":"3"}`)
	expect(t, s.Do("POST", at+"/1", "", "X-File-Name", "../../empty"), 201, "")
	expect(t, s.Do("POST", at+"/2", "x", "X-File-Name", "two.pdf", "X-File-Type", "pdf"), 201, "")
	expect(t, s.Do("GET", at, ""), 200, `[{"name":"café +.txt","size":3,"uploadType":"normal"},`+
		`{"name":"empty","size":0,"uploadType":"normal"},{"name":"two.pdf","size":1,"uploadType":"normal"}]`)
	expect(t, s.Do("GET", at+"/1", ""), 200, `{"name":"empty","size":0,"uploadType":"normal"}`)
	expect(t, s.Do("HEAD", at+"/1", ""), 200, "")
	expect(t, s.Do("DELETE", at+"/1", ""), 204, "")
	expect(t, s.Do("GET", at+"/1", ""), 404, "")
	expect(t, s.Do("DELETE", at+"/1", ""), 404, "")
	expect(t, s.Do("GET", at+"/2", ""), 200, "")
	expect(t, s.Do("GET", at+"/info", ""), 200, `{"batchId":"`+id+`","fileEntries":[{"name":"café +.txt","size":3,"uploadType":"normal"},`+
		`{"name":"two.pdf","size":1,"uploadType":"normal"}],"provider":"default"}`)
	expect(t, s.Do("POST", at+"/0", "later", "X-File-Name", "b.txt"), 201, "")
	expect(t, s.Do("GET", at+"/0", ""), 200, `{"name":"b.txt","size":5,"uploadType":"normal"}`)
	expect(t, s.Do("POST", at+"/0/complete", "{}"), 409, "")
	expect(t, s.Do("POST", at+"/refreshToken", "{}"), 501, "")
	expect(t, s.Do("POST", at+"/x", "abc"), 400, "")
	expect(t, s.Do("POST", at+"/-1", "abc"), 400, "")
	expect(t, s.Do("POST", at+"/3", "--b\r\n", "Content-Type", "multipart/form-data; boundary=b"), 400, "")
	expect(t, s.Do("DELETE", at, ""), 204, "")
	for _, method := range []string{"GET", "DELETE"} {
		expect(t, s.Do(method, at, ""), 404, "")
	}
	expect(t, s.Do("POST", at+"/0", "abc"), 404, "")
}

func TestUploadHandlers(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	expect(t, s.Do("GET", api+"/upload/handlers", ""), 200, `{"handlers":[{"name":"default"}]}`)
	expect(t, s.Do("GET", api+"/upload/handlers/default", ""), 200, `{"name":"default"}`)
	expect(t, s.Do("GET", api+"/upload/handlers/s3", ""), 404, "")
	expect(t, s.Do("POST", api+"/upload/new/s3", ""), 404, "")
	a := s.Do("POST", api+"/upload/new/default", "")
	if m := a.JSON(t); a.StatusCode != http.StatusOK || m["provider"] != "default" || m["batchId"] == nil || len(m["fileEntries"].([]any)) != 0 {
		t.Errorf("%s %s", a.Status, a.Text)
	}
}

func TestUploadBelongsToItsUser(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	s.User("alice")
	s.User("bob")
	at := batch(t, s, "as", "alice")
	expect(t, s.Do("POST", at+"/0", "abc", "as", "alice"), 201, "")
	for _, as := range []string{"bob", "Administrator"} {
		for _, r := range [][2]string{
			{"GET", ""},
			{"GET", "/0"},
			{"GET", "/info"},
			{"POST", "/0"},
			{"POST", "/1"},
			{"DELETE", "/0"},
			{"DELETE", ""},
			{"POST", "/execute/Log"},
			{"POST", "/0/complete"},
			{"POST", "/refreshToken"},
		} {
			body := ""
			if r[0] == "POST" {
				body = `{"params":{"message":"m","level":"info"}}`
			}
			expect(t, s.Do(r[0], at+r[1], body, "as", as), 404, "")
		}
	}
	expect(t, s.Do("GET", at+"/0", "", "as", "alice"), 200, "")
	expect(t, s.Do("POST", at+"/0", "abc", "as", ""), 401, "")
	expect(t, s.Do("GET", api+"/upload/batchId-1", "", "as", "alice"), 404, "")
}

// TestForeignFiles: anyone who knows what another user's batch is called gets nothing of its files, wherever a file is named.
func TestForeignFiles(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops()})
	s.User("alice")
	s.User("bob")
	at := batch(t, s, "as", "alice")
	id := at[strings.LastIndexByte(at, '/')+1:]
	expect(t, s.Do("POST", at+"/0", "what alice wrote", "as", "alice", "X-File-Name", "a.txt"), 201, "")
	expect(t, s.Do("POST", api+"/automation/Document.AddPermission", `{"input":"/","params":{"username":"bob","permission":"Everything"}}`), 200, "")
	file := `{"upload-batch":"` + id + `","upload-fileId":"0","type":"blob"}`
	for i, r := range []struct{ method, path, body string }{
		{"POST", "/path/", `{"entity-type":"document","type":"File","name":"f","properties":{"file:content":` + file + `}}`},
		{"POST", "/path/", `{"entity-type":"document","type":"File","name":"g","properties":{"files:files":[{"file":` + file + `}]}}`},
		{"POST", "/automation/Document.Create", `{"input":"/","params":{"type":"File","name":"h","properties":{"file:content":` + file + `}}}`},
		{"POST", "/automation/Document.SetBlob", `{"input":"/","params":{"file":` + file + `}}`},
		{"POST", "/automation/FileManager.Import", `{"input":` + file + `,"context":{"currentDocument":"/"}}`},
		{"POST", "/automation/Blob.ExtractText", `{"input":` + file + `}`},
		{"POST", "/automation/Blob.CreateZip", `{"input":[` + file + `]}`},
		{"POST", "/automation/Blob.CreateZip/@async", `{"input":[` + file + `]}`},
		{"POST", "/automation/Context.SetVar", `{"input":"/","params":{"name":"v","value":` + file + `},"context":{"w":` + file + `}}`},
		{"POST", "/upload/" + id + "/0/execute/Blob.ExtractText", `{}`},
		{"POST", "/upload/" + id + "/execute/Blob.CreateZip", `{}`},
		{"POST", "/upload/" + strings.ToUpper(id) + "/0/execute/Blob.ExtractText", `{}`},
		{"GET", "/upload/" + id + "%2f0", ""},
		{"GET", "/upload/" + id + "/%30", ""},
	} {
		got := s.Do(r.method, api+r.path, r.body, "as", "bob")
		if strings.Contains(got.Text, "alice wrote") || strings.Contains(got.Text, "a.txt") || got.StatusCode >= 500 {
			t.Errorf("%d: %s %s: %d %s", i, r.method, r.path, got.StatusCode, got.Text)
		}
	}
	all := s.Do("GET", api+"/path/@children", "", "as", "bob", "properties", "*")
	if strings.Contains(all.Text, `"digest"`) || strings.Contains(all.Text, "a.txt") {
		t.Errorf("in a document: %s", all.Text)
	}
	expect(t, s.Do("POST", at+"/0/execute/Blob.CreateZip", `{}`, "as", "alice"), 200, "")
}

func chunk(i, n int) []string {
	return []string{"X-File-Name", "big.bin", "X-Upload-Type", "chunked", "X-Upload-Chunk-Index", strconv.Itoa(i), "X-Upload-Chunk-Count", strconv.Itoa(n)}
}

// stores runs a test on a server that keeps files in memory and one that keeps them on disk, where chunks
// take other ways.
func stores(t *testing.T, fn func(t *testing.T, s *resttest.Server)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { fn(t, resttest.Start(t, resttest.Config{})) })
	t.Run("disk", func(t *testing.T) {
		fn(t, resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) {
			var err error
			if c.Blobs, err = blob.Open(t.TempDir(), nil); err != nil {
				t.Fatal(err)
			}
		}}))
	})
}

func TestUploadChunks(t *testing.T) { stores(t, testUploadChunks) }

func testUploadChunks(t *testing.T, s *resttest.Server) {
	at := batch(t, s)
	id := at[strings.LastIndexByte(at, '/')+1:]
	part := func(i int, text string) *resttest.Answer { return s.Do("POST", at+"/7", text, chunk(i, 3)...) }
	head := `{"batchId":"` + id + `","chunkCount":3,"fileIdx":"7","uploadType":"chunked","uploaded":"true",`
	expect(t, part(2, "CC"), 202, head+`"uploadedChunkIds":[2],"uploadedSize":"2"}`)
	expect(t, s.Do("GET", at+"/7", ""), 202, `{"chunkCount":3,"name":"big.bin","size":2,"uploadType":"chunked","uploadedChunkIds":[2]}`)
	expect(t, part(0, "A"), 202, head+`"uploadedChunkIds":[0,2],"uploadedSize":"1"}`)
	expect(t, part(0, "A"), 409, "")
	expect(t, part(3, "D"), 400, "")
	expect(t, s.Do("POST", at+"/7", "B", chunk(1, 4)...), 409, "")
	for _, bad := range [][2]string{{"x", "3"}, {"1", "x"}, {"-1", "3"}, {"1", "0"}, {"1", "99999999"}, {"", "3"}, {"1", ""}} {
		expect(t, s.Do("POST", at+"/7", "B", "X-Upload-Type", "chunked", "X-Upload-Chunk-Index", bad[0], "X-Upload-Chunk-Count", bad[1]), 400, "")
	}
	expect(t, s.Do("POST", at+"/execute/Document.GetBlob", "{}"), 409, "")
	expect(t, part(1, "B"), 201, head+`"uploadedChunkIds":[0,1,2],"uploadedSize":"1"}`)
	expect(t, s.Do("GET", at+"/7", ""), 200, `{"chunkCount":3,"name":"big.bin","size":4,"uploadType":"chunked","uploadedChunkIds":[0,1,2]}`)
	expect(t, part(1, "B"), 409, "")
	// Without a word about the type, the headers of chunks are enough.
	expect(t, s.Do("POST", at+"/8", "x", "X-Upload-Chunk-Index", "0", "X-Upload-Chunk-Count", "1", "X-File-Name", "one.txt"), 201, "")
	made := s.Do("POST", api+"/path/", `{"entity-type":"document","type":"File","name":"f","properties":{"file:content":{"upload-batch":"`+id+`","upload-fileId":"7"}}}`,
		"X-NXproperties", "*", "X-Batch-No-Drop", "true")
	expect(t, made, 201, "")
	got := s.Do("GET", api+"/path/f/@blob/file:content", "")
	expect(t, got, 200, "ABCC")
	if d := got.Header.Get("Content-Disposition"); d != "attachment; filename=big.bin" {
		t.Error(d)
	}
	expect(t, s.Do("GET", at+"/7", ""), 200, "")
}

// TestUploadsInDocuments puts uploaded files where a document may hold them.
func TestUploadsInDocuments(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	send := func(names ...string) (at, id string) {
		at = batch(t, s)
		for i, name := range names {
			expect(t, s.Do("POST", fmt.Sprintf("%s/%d", at, i), "content of "+name, "X-File-Name", name), 201, "")
		}
		return at, at[strings.LastIndexByte(at, '/')+1:]
	}
	file := func(id string, n any) map[string]any {
		return map[string]any{"upload-batch": id, "upload-fileId": n, "type": "blob"}
	}
	save := func(method, path string, props map[string]any) map[string]any {
		t.Helper()
		body, err := json.Marshal(map[string]any{"entity-type": "document", "type": "File", "name": "f", "properties": props})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Do(method, api+path, string(body), "X-NXproperties", "*")
		if a.StatusCode >= 300 {
			t.Fatalf("%s %s", a.Status, a.Text)
		}
		return a.JSON(t)["properties"].(map[string]any)
	}
	at, id := send("a.txt", "b.pdf", "c.txt")
	props := save("POST", "/path/", map[string]any{
		"file:content":   file(id, 0),
		"files:files":    []any{map[string]any{"file": file(id, "1")}, map[string]any{"file": file(id, "9")}},
		"dc:description": file(id, 2),
	})
	if b := props["file:content"].(map[string]any); b["name"] != "a.txt" || b["mime-type"] != "text/plain" || b["length"] != "16" {
		t.Errorf("%v", b)
	}
	list := props["files:files"].([]any)
	if b := list[0].(map[string]any)["file"].(map[string]any); b["name"] != "b.pdf" {
		t.Errorf("%v", list)
	}
	if len(list) > 1 && list[1].(map[string]any)["file"] != nil || props["dc:description"] != "content of c.txt" {
		t.Errorf("%v", props)
	}
	expect(t, s.Do("GET", at, ""), 404, "")
	expect(t, s.Do("GET", api+"/path/f/@blob/files:files/0/file", ""), 200, "content of b.pdf")
	_, id = send("d.txt")
	props = save("PUT", "/path/f", map[string]any{"file:content": file(id, "0")})
	if b := props["file:content"].(map[string]any); b["name"] != "d.txt" {
		t.Errorf("%v", b)
	}
	if props = save("PUT", "/path/f", map[string]any{"file:content": file("batchId-none", "0")}); props["file:content"] != nil {
		t.Errorf("a batch there is not: %v", props["file:content"])
	}
	_, id = send("e.txt")
	expect(t, s.Do("POST", api+"/automation/Document.SetBlob", `{"input":"/f","params":{"file":{"upload-batch":"`+id+`","upload-fileId":"0"}}}`), 200, "")
	expect(t, s.Do("GET", api+"/path/f/@blob/file:content", ""), 200, "content of e.txt")
}

func TestUploadExecute(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	at := batch(t, s)
	expect(t, s.Do("POST", at+"/0", "one", "X-File-Name", "one.txt"), 201, "")
	expect(t, s.Do("POST", at+"/1", "two", "X-File-Name", "two.txt"), 201, "")
	expect(t, s.Do("POST", at+"/5/execute/Blob.CreateZip", "{}"), 404, "")
	expect(t, s.Do("POST", at+"/0/execute/No.Such", "{}"), 404, "")
	a := s.Do("POST", at+"/1/execute/FileManager.Import", `{"context":{"currentDocument":"/default-domain/workspaces"}}`, "X-Batch-No-Drop", "true")
	if m := a.JSON(t); a.StatusCode != http.StatusOK || m["title"] != "two.txt" {
		t.Errorf("%s %s", a.Status, a.Text)
	}
	a = s.Do("POST", at+"/execute/FileManager.Import", `{"context":{"currentDocument":"/default-domain/workspaces"}}`)
	if m := a.JSON(t); a.StatusCode != http.StatusOK || len(m["entries"].([]any)) != 2 {
		t.Errorf("%s %s", a.Status, a.Text)
	}
	expect(t, s.Do("GET", at, ""), 404, "")
	expect(t, s.Do("POST", at+"/execute/FileManager.Import", "{}"), 404, "")
}

// TestUploadAnyOrder sends random files in chunks: any order, chunks sent twice, connections
// that break off within one, and what is missing found out from the server.
func TestUploadAnyOrder(t *testing.T) { stores(t, testUploadAnyOrder) }

func testUploadAnyOrder(t *testing.T, s *resttest.Server) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for round := range 12 {
		n := 1 + rnd.IntN(12)
		data := make([]byte, n*(1+rnd.IntN(9000)))
		for i := range data {
			data[i] = byte(rnd.Uint32() >> (round % 3 * 8)) // some chunks are the same
		}
		at := batch(t, s)
		size := len(data) / n
		for {
			a := s.Do("GET", at+"/0", "")
			if a.StatusCode == http.StatusOK {
				break
			}
			missing := rnd.Perm(n)
			if a.StatusCode == http.StatusAccepted {
				there := map[int]bool{}
				for _, i := range a.JSON(t)["uploadedChunkIds"].([]any) {
					there[int(i.(float64))] = true
				}
				missing = missing[:0]
				for _, i := range rnd.Perm(n) {
					if !there[i] {
						missing = append(missing, i)
					}
				}
			}
			for _, i := range missing[:1+rnd.IntN(len(missing))] {
				piece := data[i*size : (i+1)*size]
				if rnd.IntN(4) == 0 {
					cut(t, s, at+"/0", piece, rnd.IntN(len(piece)), chunk(i, n))
					continue
				}
				a := s.Do("POST", at+"/0", string(piece), chunk(i, n)...)
				if a.StatusCode != http.StatusCreated && a.StatusCode != http.StatusAccepted {
					t.Fatalf("seed %d: chunk %d of %d: %s %s", seed, i, n, a.Status, a.Text)
				}
				if rnd.IntN(4) == 0 {
					expect(t, s.Do("POST", at+"/0", string(piece), chunk(i, n)...), 409, "")
				}
			}
		}
		got := s.Do("POST", at+"/0/execute/Blob.CreateZip", "{}", "X-Batch-No-Drop", "true")
		expect(t, got, 200, "")
		id := at[strings.LastIndexByte(at, '/')+1:]
		made := s.Do("POST", api+"/path/", fmt.Sprintf(
			`{"entity-type":"document","type":"File","name":"f%d","properties":{"file:content":{"upload-batch":"%s","upload-fileId":"0"}}}`, round, id))
		expect(t, made, 201, "")
		file := s.Do("GET", fmt.Sprintf("%s/path/f%d/@blob/file:content", api, round), "")
		want, have := sha256.Sum256(data), sha256.Sum256([]byte(file.Text))
		if want != have {
			t.Fatalf("seed %d: %d chunks of %d bytes: digest %s", seed, n, size, hex.EncodeToString(have[:]))
		}
	}
}

// cut announces a chunk and breaks off after some of its bytes.
func cut(t *testing.T, s *resttest.Server, path string, piece []byte, after int, headers []string) {
	t.Helper()
	body := &breaking{bytes.NewReader(piece[:after])}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.ContentLength = int64(len(piece))
	req.SetBasicAuth("Administrator", resttest.Password)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := s.Client().Do(req)
	if err == nil {
		res.Body.Close()
		if res.StatusCode < 400 {
			t.Fatalf("half a chunk was taken: %s", res.Status)
		}
	}
}

type breaking struct{ *bytes.Reader }

func (b *breaking) Close() error { return nil }
