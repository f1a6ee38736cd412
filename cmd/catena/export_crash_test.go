package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"catena/decks/render"
)

// TestExportCrash kills the server while it makes an export: the next one makes it, and of
// the first one's browser nothing is left.
func TestExportCrash(t *testing.T) {
	if render.FindChromium() == "" {
		t.Skip("no browser is installed")
	}
	if _, err := builtBinary(); err != nil { // in the usual folder
		t.Fatal(err)
	}
	folder, err := os.MkdirTemp("", "k") // addresses of sockets below it must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil { //nolint:gosec // the browser's user passes through it
		t.Fatal(err)
	}
	data := t.TempDir()
	t.Setenv("TMPDIR", folder)
	p := startServer(t, data, "--rate", "-1")
	deck := fmt.Sprintf(`{"title":"Long","data":%q}`, strings.Repeat("<section><h2>Slide</h2><p>text</p></section>", 150))
	ask(t, p.base+"/v1/decks", http.MethodPost, deck)
	ask(t, p.base+"/v1/decks/1/exports", http.MethodPost, `{"format":"pdf"}`)
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if e := ask(t, p.base+"/v1/decks/1/exports/1", http.MethodGet, ""); e["progress"] != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the export does not begin")
		}
	}
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	p = startServer(t, data, "--rate", "-1")
	var e map[string]any
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if e = ask(t, p.base+"/v1/decks/1/exports/1", http.MethodGet, ""); e["status"] != "pending" {
			break
		}
	}
	if e["status"] != "completed" {
		t.Fatalf("%v", e)
	}
	if left, err := filepath.Glob(filepath.Join(folder, "catena-browser-*")); err != nil || len(left) != 1 {
		t.Errorf("folders of browsers: %q %v; %v %s", left, err, e, p.log)
	}
	p.stop(t)
	if left, err := filepath.Glob(filepath.Join(folder, "catena-*")); err != nil || len(left) != 0 {
		t.Errorf("left: %q %v", left, err)
	}
}

// ask sends a request of the deck service as Administrator and returns the data of the answer.
func ask(t *testing.T, url, method, body string) map[string]any {
	t.Helper()
	status, text := administer(t, method, url, "application/json", body)
	if status >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s", method, url, status, text)
	}
	var out struct{ Data map[string]any }
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.Data
}
