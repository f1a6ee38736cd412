package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage/blob/bucket/buckettest"
)

// stalledClients is how many connections stop reading at once; CATENA_STALLED sets another number.
func stalledClients(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CATENA_STALLED")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStalled has hundreds of clients ask for content and read none of it, while others read and write a few bytes at a
// time, send bodies that never end, and produce garbage. The server breaks those answers off and lives. It did not when breaking off was a panic, on
// whose way up a deferred call ran a whole transaction: see TestDeferredFrames.
func TestStalled(t *testing.T) {
	t.Run("folder", func(t *testing.T) { stall(t) })
	t.Run("bucket", func(t *testing.T) {
		if os.Getenv("CATENA_STALLED") == "" {
			t.Skip("goes the same way; make fault runs it")
		}
		store := buckettest.New(t)
		stall(t, "--blobs", store.Address("content"))
	})
}

func stall(t *testing.T, args ...string) {
	n := stalledClients(t)
	p := startServer(t, t.TempDir(), append([]string{
		"--log-level", "error", "--limit-stall-time", "1s", "--limit-body-time", "1s", "--limit-connections", strconv.Itoa(n + 100),
		"--limit-connections-address", strconv.Itoa(n + 100),
	}, args...)...)
	for kind, name := range map[string]string{"Note": "pub", "File": "big"} {
		body := fmt.Sprintf(`{"entity-type": "document", "type": %q, "name": %q}`, kind, name)
		if status, text := administer(t, http.MethodPost, p.base+"/api/v1/path/", "application/json", body); status != http.StatusCreated {
			t.Fatalf("%d %s", status, text)
		}
	}
	attach(t, p.base, "/big", 8<<20)
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() { litter(ctx, p.base) })
	}
	for i := range n {
		c := openStalled(t, p.base, i)
		context.AfterFunc(ctx, func() { _ = c.Close() })
		switch i % 8 {
		case slowReader:
			busy.Go(func() { trickle(ctx, func(b []byte) (int, error) { return c.Read(b) }) })
		case slowWriter:
			busy.Go(func() { trickle(ctx, func(b []byte) (int, error) { return c.Write(b) }) })
		}
	}
	select {
	case err := <-p.done:
		p.done <- err
		t.Errorf("the server ended: %v", err)
	case <-time.After(8 * time.Second):
	}
	stop()
	busy.Wait()
	if status, text := administer(t, http.MethodGet, p.base+"/api/v1/path/pub", "", ""); status != http.StatusOK {
		t.Errorf("afterwards: %d %s", status, text)
	}
}

// attach gives a document a file of random bytes.
func attach(t *testing.T, base, doc string, size int64) {
	t.Helper()
	typ, body := attachment(doc, io.LimitReader(rand.NewChaCha8([32]byte{}), size))
	if status, text := administer(t, http.MethodPost, base+attachOperation, typ, body.String()); status >= 300 {
		t.Fatalf("%d %s", status, text)
	}
}

const attachOperation = "/api/v1/automation/Blob.AttachOnDocument"

// attachment is the body of a call that gives a document a file, and its type.
func attachment(doc string, content io.Reader) (typ string, body *bytes.Buffer) {
	body = &bytes.Buffer{}
	m := multipart.NewWriter(body)
	params, _ := m.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name="request"`}, "Content-Type": {"application/json"}})
	fmt.Fprintf(params, `{"params": {"document": %q, "save": true}}`, doc)
	file, _ := m.CreateFormFile("input", "b.bin")
	_, _ = io.Copy(file, content)
	_ = m.Close()
	return m.FormDataContentType(), body
}

// litter makes calls that leave much garbage.
func litter(ctx context.Context, base string) {
	lines, _ := json.Marshal(map[string]any{"input": "/pub", "params": map[string]string{"properties": "dc:title=" + strings.Repeat("\\\n", 10_000)}})
	wide, _ := json.Marshal(map[string]any{"params": map[string]any{"value": strings.Repeat("x", 1<<20), "name": "n"}})
	for ctx.Err() == nil {
		for op, body := range map[string][]byte{"Document.Update": lines, "Context.SetVar": wide} {
			timed, cancel := context.WithTimeout(ctx, time.Second)
			if resp, err := admin(timed, http.MethodPost, base+"/api/v1/automation/"+op, "application/json", bytes.NewReader(body)); err == nil {
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			cancel()
		}
	}
}

// adminHeader signs Administrator in.
var adminHeader = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("Administrator:"+adminPassword)) + "\r\n"

// Which of eight clients are slow instead of silent.
const (
	slowReader = 3
	slowWriter = 4
)

// trickle reads or writes a few bytes at a time.
func trickle(ctx context.Context, some func(b []byte) (int, error)) {
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		if _, err := some([]byte("    ")); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
	}
}

// openStalled sends the i-th request, whose answer nobody reads.
func openStalled(t *testing.T, base string, i int) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(base, "http://")
	c, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.(*net.TCPConn).SetReadBuffer(4096)
	head := "Host: " + host + "\r\n" + adminHeader
	file := "GET /api/v1/path/big/@blob/file:content HTTP/1.1\r\n" + head
	switch i % 8 {
	case 0:
		file += fmt.Sprintf("Range: bytes=%d-\r\n", i)
	case 1: // in chunks
		file = "GET /api/v1/path/big/@op/Document.GetBlobs HTTP/1.1\r\n" + head
	case 2, slowWriter: // does not send its body
		file = "POST /api/v1/automation/Document.Fetch HTTP/1.1\r\n" + head + "Content-Type: application/json\r\nContent-Length: 100000\r\n"
	}
	if _, err := io.WriteString(c, file+"\r\n"); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRuntimeFault shows the fault of the Go runtime that TestDeferredFrames keeps away. When this test fails, the
// runtime is mended, and both tests may go once no older Go is supported.
func TestRuntimeFault(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./testdata/panicframe").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "found pointer to free object") {
		t.Errorf("this Go does not have the fault: %v\n%.300s", err, out)
	}
}
