package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"catena/storage/badger"
	"catena/storage/kv"
	"catena/storage/postgres/pgtest"
)

// seenIn are results of operations on a store that does not run.
func seenIn(t *testing.T, args ...string) (all []string) {
	t.Helper()
	for _, call := range [][]string{
		{"Repository.Query", "--param", "query=SELECT * FROM Document ORDER BY ecm:uuid", "--param", "pageSize=200"},
		{"Repository.Query", "--param", "query=SELECT * FROM Document WHERE ecm:fulltext = 'harbour'"},
		{"Document.GetChildren", "--input", "/default-domain/workspaces/from"},
		{"User.Query", "--param", "username=ann"},
		{"Audit.Query", "--param", "query=from LogEntry log where log.category = 'eventDocumentCategory' order by log.id"},
		{"Blob.ToPDF", "--input", "/nowhere"},
	} {
		code, out, errs := line(t, append(append([]string{"run"}, call...), args...)...)
		all = append(all, fmt.Sprint(call[0], " ", code, " ", out, errs))
	}
	return all
}

// TestCopy moves a data directory into a database and back. Nothing is lost on the way, and nobody can work on what is
// being copied.
func TestCopy(t *testing.T) {
	store, dir := pgtest.Database(t), t.TempDir()
	from, back, content, folder := filepath.Join(dir, "data"), filepath.Join(dir, "back"), filepath.Join(dir, "content"), filepath.Join(dir, "from")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		name, text := fmt.Sprintf("%d.txt", i), fmt.Sprintf("harbour %d\n", i)
		if i%3 == 0 { // not in the store
			name, text = fmt.Sprintf("%d.bin", i), strings.Repeat(text+"\x00", 20_000)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CATENA_PASSWORD", adminPassword)
	p := startServer(t, from)
	for _, args := range [][]string{{"import", folder, "--into", "/default-domain/workspaces"}, {"user", "create", "ann"}} {
		if code, _, errs := line(t, append(args, "--server", p.base)...); code != 0 {
			t.Fatalf("%s: %d %s", args, code, errs)
		}
	}
	refuse(t, 1, "in use by another process", "copy", from, store, "--blobs", content)
	p.stop(t)
	want := seenIn(t, "--data", from)

	refuse(t, 2, "name the bucket or the absolute folder", "copy", from, store)
	if code, out, errs := line(t, "copy", from, store, "--blobs", content); code != 0 || !strings.Contains(out, "10 contents of files copied") {
		t.Fatalf("copy: %d %s%s", code, out, errs)
	}
	settings := []string{"--store", store, "--blobs", content, "--data", filepath.Join(dir, "node")}
	same(t, want, seenIn(t, settings...))
	if code, out, errs := line(t, append([]string{"verify"}, settings...)...); code != 0 {
		t.Errorf("verify the database: %d %s%s", code, out, errs)
	}
	if code, out, errs := line(t, "copy", from, store, "--blobs", content); code != 0 || !strings.Contains(out, "0 contents of files copied") {
		t.Errorf("once more: %d %s%s", code, out, errs)
	}

	p = startServer(t, filepath.Join(dir, "node"), "--store", store, "--blobs", content)
	p.want(t, http.StatusCreated, "Administrator", "POST", spaces, `{"entity-type":"document","type":"Folder","name":"later"}`)
	refuse(t, 1, "in use by another process", "copy", store, back, "--blobs", content)
	p.stop(t)
	refuse(t, 1, "already contains data, which is not an interrupted copy", "copy", from, store, "--blobs", content)
	want = seenIn(t, settings...)
	if code, out, errs := line(t, "copy", store, back, "--blobs", content, "--json"); code != 0 || !strings.Contains(out, `"contents": 10`) {
		t.Fatalf("copy back: %d %s%s", code, out, errs)
	}
	same(t, want, seenIn(t, "--data", back))
	if code, out, errs := line(t, "verify", "--data", back); code != 0 {
		t.Errorf("verify the directory: %d %s%s", code, out, errs)
	}
	refuse(t, 1, "already contains a store", "copy", store, back, "--blobs", content)
}

// refuse wants a command to fail with a code and a message.
func refuse(t *testing.T, want int, message string, args ...string) {
	t.Helper()
	if code, out, errs := line(t, args...); code != want || !strings.Contains(errs, message) {
		t.Errorf("%s: %d %s%s, want %d %s", args, code, out, errs, want, message)
	}
}

func same(t *testing.T, want, got []string) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%.2000s\nwant %.2000s", got[i], want[i])
		}
	}
}

// TestCopyKilled kills copies of many rows in both directions. Nobody takes what is there for a store, and the next copy goes
// on with it, unless the source is another one.
func TestCopyKilled(t *testing.T) {
	dir, store := t.TempDir(), pgtest.Database(t)
	from, back, content := filepath.Join(dir, "data"), filepath.Join(dir, "back"), filepath.Join(dir, "content")
	fillRows(t, from, 60_000)
	program, err := builtBinary()
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background()) }()
	rows := func() (n int) {
		if err := db.QueryRow(t.Context(), "SELECT count(*) FROM catena.kv").Scan(&n); err != nil {
			return 0
		}
		return n
	}
	for _, kill := range []int{1, 15_000} {
		cmd := exec.Command(program, "copy", from, store, "--blobs", content)
		killWhen(t, cmd, func() bool { return rows() > kill })
	}
	refuse(t, 2, "has an interrupted copy", "nodes", "--store", store, "--blobs", content, "--data", filepath.Join(dir, "node"))
	other := filepath.Join(dir, "other")
	fillRows(t, other, 10)
	refuse(t, 1, "an interrupted copy of another source", "copy", other, store, "--blobs", content)
	continued(t, 1, "copy", from, store, "--blobs", content)

	unpacked := filepath.Join(back, copying, "store")
	killWhen(t, exec.Command(program, "copy", store, back, "--blobs", content), func() bool {
		size, err := taken(unpacked)
		return err == nil && size > 12<<20
	})
	if _, err := os.Stat(filepath.Join(back, "store")); err == nil {
		t.Error("a copy that was killed is a data directory")
	}
	continued(t, 0, "copy", store, back, "--blobs", content) // files may have room for rows that were never committed
}

// killWhen runs a command and kills it once something is the case.
func killWhen(t *testing.T, cmd *exec.Cmd, is func() bool) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); !is() && time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
	}
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil {
		t.Error("the copy was complete before it was killed")
	}
}

// continued runs a copy that goes on with another one, of which there are at least so many rows.
func continued(t *testing.T, atLeast int64, args ...string) {
	t.Helper()
	code, out, errs := line(t, append(args, "--json")...)
	var c copied
	if err := json.Unmarshal([]byte(out), &c); code != 0 || err != nil || c.Rows != 60_000 || c.Continued < atLeast || c.Continued == c.Rows {
		t.Errorf("%d %s%s", code, out, errs)
	}
}

// fillRows makes a store of n rows of 300 bytes in a data directory.
func fillRows(t *testing.T, data string, n int) {
	t.Helper()
	if err := os.MkdirAll(data, 0o700); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := badger.Open(filepath.Join(data, "store"), badger.Options{Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	db := kv.New(s, kv.Options{Log: quiet})
	for i := 0; i < n; {
		err := db.Update(t.Context(), func(tx *kv.Tx) error {
			for end := min(n, i+20_000); i < end; i++ {
				if err := tx.Set(fmt.Appendf(nil, "row %08d", i), fmt.Appendf(nil, "%0288d", i*i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
