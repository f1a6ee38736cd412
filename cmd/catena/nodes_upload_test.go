package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"catena/storage/blob/bucket/buckettest"
	"catena/storage/postgres/pgtest"
)

// TestNodeUploads sends the chunks of a file to two servers in turn, which have a folder or a bucket for content.
func TestNodeUploads(t *testing.T) {
	for name, content := range map[string]string{"folder": t.TempDir(), "bucket": buckettest.New(t).Address("files")} {
		t.Run(name, func(t *testing.T) {
			store := pgtest.Database(t)
			nodes := []*process{}
			for range 2 {
				nodes = append(nodes, startServer(t, t.TempDir(), "--store", store, "--blobs", content))
			}
			turn := 0
			send := func(method, path, body string, headers ...string) string {
				t.Helper()
				turn++
				return nodes[turn%2].send(t, method, path, body, headers...)
			}
			const chunks = 5
			for _, order := range [][]int{{0, 1, 2, 3, 4}, {4, 2, 0, 1, 3}} {
				var batch struct{ BatchID string }
				if err := json.Unmarshal([]byte(send("POST", "/api/v1/upload", "")), &batch); err != nil {
					t.Fatal(err)
				}
				want := ""
				for i := range chunks {
					want += part(i)
				}
				for _, i := range order {
					send("POST", "/api/v1/upload/"+batch.BatchID+"/0", part(i), "X-File-Name", "f.bin", "X-File-Type", "application/octet-stream", "X-Upload-Type", "chunked",
						"X-Upload-Chunk-Count", fmt.Sprint(chunks), "X-Upload-Chunk-Index", fmt.Sprint(i), "X-File-Size", fmt.Sprint(len(want)))
				}
				doc := fmt.Sprintf("%s-%d", name, order[0])
				send("POST", spaces, fmt.Sprintf(`{"entity-type":"document","type":"File","name":%q,"properties":{"file:content":{"upload-batch":%q,"upload-fileId":"0"}}}`, doc, batch.BatchID), "Content-Type", "application/json")
				for range nodes {
					if got := send("GET", spaces+"/"+doc+"/@blob/file:content", ""); got != want {
						t.Errorf("%s: %d bytes, want %d", doc, len(got), len(want))
					}
				}
			}
		})
	}
}

// part is a chunk; the last one is short.
func part(i int) string { return strings.Repeat(fmt.Sprintf("chunk %d\n", i), 20_000-i/4*5_000) }

// send sends a request as the administrator and returns what it is answered.
func (p *process) send(t *testing.T, method, path, body string, headers ...string) string {
	t.Helper()
	req, err := http.NewRequest(method, p.base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("Administrator", adminPassword)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %.300s, %v", method, path, resp.StatusCode, text, err)
	}
	return string(text)
}
