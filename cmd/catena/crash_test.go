package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// crashChain touches five documents and a blob in one transaction.
const crashChain = `name: Crash.Five
description: Makes a folder of four files, one of them with the content given.
input: blob
output: blob
params:
  - {name: name, type: string, required: true}
  - {name: round, type: string, required: true}
steps:
  - op: Context.PushBlob
  - op: Repository.GetDocument
    params: {value: /default-domain/workspaces}
  - op: Document.Create
    params: {type: Folder, name: "@{name}", properties: {"dc:source": "@{round}"}}
    as: folder
  - op: Document.Create
    params: {type: File, name: one, properties: {"dc:source": "@{round}"}}
  - op: Context.RestoreDocumentInput
    params: {name: folder}
  - op: Document.Create
    params: {type: File, name: two, properties: {"dc:source": "@{round}"}}
  - op: Context.RestoreDocumentInput
    params: {name: folder}
  - op: Document.Create
    params: {type: File, name: three, properties: {"dc:source": "@{round}"}}
  - op: Context.RestoreDocumentInput
    params: {name: folder}
  - op: Document.Create
    params: {type: File, name: four, properties: {"dc:source": "@{round}"}}
  - op: Context.PopBlob
  - op: Blob.AttachOnDocument
    params: {document: "/default-domain/workspaces/@{name}/four"}
`

const (
	crashWriters = 16
	workspaces   = "/api/v1/path/default-domain/workspaces/"
)

// attempt is one call of the chain: acknowledged or not.
type attempt struct {
	name  string
	acked bool
}

// TestCrash kills the server in the middle of its work, over and over: what was
// acknowledged is there, whole; what was not is there whole or not at all.
// CATENA_KILLS sets how often; make fault does so 1,000 times.
func TestCrash(t *testing.T) {
	kills := killCount(t, 6)
	data := t.TempDir()
	var last []attempt
	acked := 0
	for i := range kills {
		p := startServer(t, data)
		if i == 0 {
			saveChain(t, p.base, crashChain)
		}
		verifyCrash(t, p.base, last)
		get(t, p.base+workspaces) // the first sign-in hashes the password
		last = writeUntilKilled(p, i, crashWriters, callCrash)
		for _, a := range last {
			if a.acked {
				acked++
			}
		}
	}
	p := startServer(t, data)
	verifyCrash(t, p.base, last)
	p.stop(t)
	verifyStore(t, data)
	if acked < kills {
		t.Errorf("only %d calls were acknowledged in %d rounds: the test did not test much", acked, kills)
	}
	t.Logf("%d kills, %d acknowledged calls, none lost, none half done", kills, acked)
}

func saveChain(t testing.TB, base, source string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"params": map[string]string{"source": source}})
	if status, got := administer(t, http.MethodPost, base+"/api/v1/automation/Chain.Save", "application/json", string(body)); status != http.StatusOK {
		t.Fatalf("saving the chain: %d %s", status, got)
	}
}

// admin makes a request as Administrator.
func admin(ctx context.Context, method, url, contentType string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.SetBasicAuth("Administrator", adminPassword)
	return http.DefaultClient.Do(req)
}

// administer makes a request as Administrator and returns the status and the body of the answer.
func administer(t testing.TB, method, url, contentType, body string) (int, string) {
	t.Helper()
	resp, err := admin(t.Context(), method, url, contentType, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, whole(t, resp)
}

// whole is the body of an answer.
func whole(t testing.TB, resp *http.Response) string {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// killCount is how often a test kills the server: as CATENA_KILLS says, or the usual number.
func killCount(t *testing.T, usual int) int {
	t.Helper()
	text := os.Getenv("CATENA_KILLS")
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// writeUntilKilled lets writers work for a random short while and then kills the server.
func writeUntilKilled(p *process, round, writers int, call func(base, name string) bool) []attempt {
	var (
		mu   sync.Mutex
		all  []attempt
		wg   sync.WaitGroup
		dead atomic.Bool
	)
	for w := range writers {
		wg.Go(func() {
			for n := 0; !dead.Load(); n++ {
				a := attempt{name: fmt.Sprintf("r%d-w%d-%d", round, w, n)}
				a.acked = call(p.base, a.name)
				mu.Lock()
				all = append(all, a)
				mu.Unlock()
			}
		})
	}
	time.Sleep(time.Duration(3+rand.IntN(298)) * time.Millisecond)
	p.kill()
	dead.Store(true)
	wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	return all
}

// callCrash runs the chain and reports whether the server acknowledged it.
func callCrash(base, name string) bool {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part := func(field, file, typ, content string) {
		h := textproto.MIMEHeader{}
		h.Set("Content-Disposition", fmt.Sprintf(`form-data; name=%q; filename=%q`, field, file))
		h.Set("Content-Type", typ)
		w, _ := m.CreatePart(h)
		_, _ = io.WriteString(w, content)
	}
	part("params", "params", "application/json", fmt.Sprintf(`{"params":{"name":%q,"round":%q}}`, name, roundOf(name)))
	part("input", name+".bin", "application/octet-stream", crashContent(name))
	_ = m.Close()
	resp, err := admin(context.Background(), http.MethodPost, base+"/api/v1/automation/Crash.Five", m.FormDataContentType(), &b)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err == nil && resp.StatusCode == http.StatusOK
}

func crashContent(name string) string { return "the content of " + name }

// verifyCrash looks at every attempt of the round before: at its folder with what is in it, as the index has them,
// and at the content.
func verifyCrash(t *testing.T, base string, attempts []attempt) {
	t.Helper()
	if len(attempts) == 0 {
		return
	}
	there := made(t, base, roundOf(attempts[0].name))
	var wg sync.WaitGroup
	slots := make(chan struct{}, crashWriters)
	for _, a := range attempts {
		names, ok := there[a.name]
		if !ok {
			if a.acked {
				t.Errorf("%s was acknowledged and is lost", a.name)
			}
			continue
		}
		slices.Sort(names)
		if !slices.Equal(names, []string{"", "four", "one", "three", "two"}) {
			t.Errorf("%s is there with %q", a.name, names)
		}
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if status, body := get(t, base+workspaces+a.name+"/four/@blob/file:content"); status != http.StatusOK || body != crashContent(a.name) {
				t.Errorf("%s: blob: status %d, %q", a.name, status, body)
			}
		})
	}
	wg.Wait()
}

// roundOf is the round that an attempt was made in.
func roundOf(name string) string { r, _, _ := strings.Cut(name, "-"); return r }

// made asks for what a round made: the names of the documents below each of its folders, "" being the folder's own.
func made(t *testing.T, base, round string) map[string][]string {
	t.Helper()
	const query = "/api/v1/search/lang/NXQL/execute?pageSize=1000&currentPageIndex=%d&query="
	names := map[string][]string{}
	for page, more := 0, true; more; page++ {
		status, body := get(t, base+fmt.Sprintf(query, page)+url.QueryEscape("SELECT * FROM Document WHERE dc:source = '"+round+"' ORDER BY ecm:uuid"))
		var list struct {
			Entries             []struct{ Path string }
			IsNextPageAvailable bool
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil || status != http.StatusOK {
			t.Fatalf("%s: status %d, %v: %s", round, status, err, body)
		}
		for _, e := range list.Entries {
			folder, name, _ := strings.Cut(strings.TrimPrefix(e.Path, "/default-domain/workspaces/"), "/")
			names[folder] = append(names[folder], name)
		}
		more = list.IsNextPageAvailable
	}
	return names
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return administer(t, http.MethodGet, url, "", "")
}

// verifyStore runs catena verify on the closed directory.
func verifyStore(t *testing.T, data string) {
	t.Helper()
	name, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), name, "verify", "--data", data).CombinedOutput(); err != nil {
		t.Errorf("catena verify: %v\n%s", err, out)
	}
}
