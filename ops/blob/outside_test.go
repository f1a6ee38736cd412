package blob

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"catena/engine"
	"catena/engine/egress"
	"catena/ops/opstest"
	"catena/storage"
	"catena/storage/blob/blobtest"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
)

// outside reaches the loopback address and a folder of the test.
func outside(t *testing.T) Outside {
	t.Helper()
	client, err := egress.New(egress.Config{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	return Outside{client, t.TempDir()}
}

func letter() *storage.Blob { return engine.NewBlob("letter.txt", "text/plain", []byte("Dear all")) }

// carryOut does the jobs that wait, as the outbox would.
func carryOut(t *testing.T, w *opstest.World, o Outside) error {
	t.Helper()
	var due []outbox.State
	w.Do("Administrator", func(c *engine.Ctx) (err error) {
		due, err = outbox.Jobs(c.Tx, outbox.Waits, "", 10)
		return err
	})
	for _, j := range due {
		if err := Jobs(w.Blobs(), o)[j.Kind].Do(context.Background(), j.Job); err != nil {
			return err
		}
	}
	return nil
}

func TestCreateFromURL(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			w.WriteHeader(http.StatusGone)
		}
		w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		_, _ = io.WriteString(w, "# Hello")
	}))
	defer s.Close()
	o, w := outside(t), opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		b, err := createFromURLParams{File: s.URL + "/a/notes.md?x=1"}.fetch(c, o.Client)
		if err != nil || b.Name != "notes.md" || b.Type != "text/markdown" || b.Encoding != "utf-8" || b.Size != 7 {
			t.Errorf("%+v, %v", b, err)
		}
		b, err = createFromURLParams{File: s.URL, Filename: "f", Type: "text/x-own", Encoding: "latin1"}.fetch(c, o.Client)
		if err != nil || b.Name != "f" || b.Type != "text/x-own" || b.Encoding != "latin1" {
			t.Errorf("%+v, %v", b, err)
		}
		if _, err = (createFromURLParams{File: s.URL + "/gone"}).fetch(c, o.Client); !fault.Is(err, fault.Unavailable) {
			t.Errorf("a page that is gone: %v", err)
		}
		return nil
	})
}

func TestPostToURL(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.Method + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer s.Close()
	o, w := outside(t), opstest.New(t)
	w.Do("Administrator", func(c *engine.Ctx) error {
		raw, err := json.Marshal(posting{s.URL, *letter()})
		if err != nil {
			return err
		}
		if err := hold.Stage(c.Tx, letter()); err != nil {
			return err
		}
		return outbox.Enqueue(c.Tx, outbox.Job{Kind: postJob, Data: raw})
	})
	if err := carryOut(t, w, o); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "POST text/plain Dear all" {
		t.Errorf("sent %s", text)
	}
}

func TestExportToFS(t *testing.T) {
	o, w := outside(t), opstest.New(t)
	below := func(dir string) error {
		_, err := exportToFSParams{Directory: dir}.below(o.Folder)
		return err
	}
	for _, dir := range []string{"a/b", ".", "", o.Folder, o.Folder + "/x"} {
		if err := below(dir); err != nil {
			t.Errorf("%q: %v", dir, err)
		}
	}
	for _, dir := range []string{"..", "a/../..", "/etc", o.Folder + "x", o.Folder + "/../y", "/"} {
		if err := below(dir); !fault.Is(err, fault.Denied) {
			t.Errorf("%q: %v", dir, err)
		}
	}
	for range 2 { // an earlier try may have written it
		if err := w.Blobs().Keep(t.Context(), letter()); err != nil {
			t.Fatal(err)
		}
		if err := export(o.Folder, "sub/letter.txt", letter()); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(o.Folder, "sub/letter.txt")); err != nil || string(text) != "Dear all" {
		t.Errorf("%q, %v", text, err)
	}
	if err := export(o.Folder, "sub/letter.txt", engine.NewBlob("letter.txt", "", []byte("other"))); !fault.Is(err, fault.Exists) {
		t.Errorf("overwritten: %v", err)
	}
	if err := os.Symlink("/", filepath.Join(o.Folder, "away")); err != nil {
		t.Fatal(err)
	}
	if err := export(o.Folder, "away/letter.txt", letter()); err == nil {
		t.Error("written through a link")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Folder, "sub", "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestHostileExports: whatever a file, its prefix or its folder are called, it is written below the folder for exports
// or refused at once, and next to that nothing is there.
func TestHostileExports(t *testing.T) {
	w := opstest.New(t)
	o, around := Outside{}, t.TempDir()
	o.Folder = filepath.Join(around, "exports")
	if err := os.Mkdir(o.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	only := errors.New("only looked at")
	written := 0
	for _, name := range blobtest.HostileNames() {
		for where, p := range map[string]exportToFSParams{"name": {Directory: "in"}, "prefix": {Directory: "in", Prefix: name + "/"}, "folder": {Directory: name}} {
			b := letter()
			if where == "name" {
				b.Name = name
			}
			var due []outbox.State
			err := w.Try("Administrator", func(c *engine.Ctx) error {
				err := p.export(c, o.Folder, b)
				if err == nil {
					due, err = outbox.Jobs(c.Tx, outbox.Waits, exportJob, 2)
				}
				return cmp.Or(err, only)
			})
			if fault.Is(err, fault.Denied) || fault.Is(err, fault.Invalid) {
				continue
			}
			if !errors.Is(err, only) || len(due) != 1 {
				t.Errorf("%s %.100q: %d jobs, %v", where, name, len(due), err)
				continue
			}
			if err := Jobs(w.Blobs(), o)[exportJob].Do(t.Context(), due[0].Job); err != nil {
				t.Errorf("%s %.100q: %.300v", where, name, err)
				continue
			}
			written++
			if err := os.RemoveAll(o.Folder); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(o.Folder, 0o700); err != nil {
				t.Fatal(err)
			}
		}
	}
	if there, err := os.ReadDir(around); err != nil || len(there) != 1 || written < 300 {
		t.Errorf("%d written; outside: %v, %v", written, there, err)
	}
}
