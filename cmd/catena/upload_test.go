package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"catena/storage/blob/bucket/buckettest"
)

// TestUploadSurvives cuts a server off after every chunk of an upload: what it has answered
// for is there when it starts again, and the file is whole in the end.
func TestUploadSurvives(t *testing.T) {
	t.Run("folder", func(t *testing.T) { uploadSurvives(t) })
	t.Run("bucket", func(t *testing.T) {
		store := buckettest.New(t)
		data := uploadSurvives(t, "--blobs", store.Address(""))
		if sum := sha256.Sum256(data); !bytes.Equal(store.Get(hex.EncodeToString(sum[:])), data) {
			t.Errorf("in the bucket: %q", store.Keys())
		}
	})
}

// uploadSurvives returns what was uploaded.
func uploadSurvives(t *testing.T, args ...string) []byte {
	t.Helper()
	const size, count = 100_000, 4
	data := bytes.Repeat([]byte("what was acknowledged stays. "), size*count/29+1)[:size*count-7]
	dir := t.TempDir()
	var p *process
	do := func(method, path string, body []byte, headers ...string) (int, []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, p.base+"/api/v1"+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.SetBasicAuth("Administrator", adminPassword)
		for i := 0; i < len(headers); i += 2 {
			req.Header.Set(headers[i], headers[i+1])
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, []byte(whole(t, res))
	}
	batch, want := "", "[]"
	for n, i := range []int{2, 0, 3, 1} {
		p = startServer(t, dir, args...)
		if batch == "" {
			var opened struct{ BatchID string }
			if _, body := do("POST", "/upload", nil); json.Unmarshal(body, &opened) != nil || opened.BatchID == "" {
				t.Fatalf("no batch: %s", body)
			}
			batch = opened.BatchID
		} else {
			status, body := do("GET", "/upload/"+batch+"/0", nil)
			if status != http.StatusAccepted || !strings.Contains(string(body), `"uploadedChunkIds":`+want) {
				t.Fatalf("after a restart: %d %s, want %s", status, body, want)
			}
		}
		status, body := do("POST", "/upload/"+batch+"/0", data[i*size:min((i+1)*size, len(data))], "X-File-Name", "f.bin",
			"X-Upload-Type", "chunked", "X-Upload-Chunk-Index", strconv.Itoa(i), "X-Upload-Chunk-Count", strconv.Itoa(count))
		if n < count-1 && status != http.StatusAccepted || n == count-1 && status != http.StatusCreated {
			t.Fatalf("chunk %d: %d %s", i, status, body)
		}
		want = []string{"[2]", "[0,2]", "[0,2,3]", ""}[n]
		p.kill()
	}
	p = startServer(t, dir, args...)
	status, body := do("POST", "/path/", fmt.Appendf(nil,
		`{"entity-type":"document","type":"File","name":"f","properties":{"file:content":{"upload-batch":%q,"upload-fileId":"0"}}}`, batch),
		"Content-Type", "application/json")
	if status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	}
	_, got := do("GET", "/path/f/@blob/file:content", nil)
	if have, want := sha256.Sum256(got), sha256.Sum256(data); have != want {
		t.Errorf("%d bytes, digest %s", len(got), hex.EncodeToString(have[:]))
	}
	return data
}
