package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRestore restores backups that are cut short or damaged in the store's part: they are refused as such, and leave no
// data directory that could be taken for one. Where only the content of a file is damaged, everything else is restored
// and the file is named. Then the whole backup goes into the same directory.
func TestRestore(t *testing.T) {
	dir := t.TempDir()
	data, copied, whole := filepath.Join(dir, "data"), filepath.Join(dir, "copied"), filepath.Join(dir, "whole.tar")
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "large.bin"), bytes.Repeat([]byte("large "), 40_000), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "--data", data}, {"import", folder, "--into", "/default-domain/workspaces", "--data", data}, {"backup", whole, "--data", data},
	} {
		if code, out, errs := line(t, args...); code != 0 {
			t.Fatalf("%s: %d %s%s", args, code, out, errs)
		}
	}
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Index(text, []byte("large large"))
	if content < 2000 {
		t.Fatalf("the file's content stands at %d of %d", content, len(text))
	}
	damaged := map[string][]byte{"empty": nil, "without end": text[:len(text)-1536]}
	for _, at := range []int{600, content / 2, content + 5000} {
		damaged[fmt.Sprintf("cut at %d", at)] = text[:at]
		damaged[fmt.Sprintf("changed at %d", at)] = slices.Concat(text[:at], []byte{text[at] ^ 1}, text[at+1:])
	}
	for name, text := range damaged {
		file := filepath.Join(dir, "damaged.tar")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := line(t, "restore", file, "--data", copied); code != 4 || !strings.HasPrefix(errs, "catena: "+file+": ") {
			t.Errorf("%s: %d %s%s", name, code, out, errs)
		}
		left, err := os.ReadDir(copied)
		if kept := name == fmt.Sprintf("changed at %d", content+5000); err != nil || kept != (len(left) > 0) {
			t.Errorf("%s: left %v %v", name, left, err)
		} else if kept {
			if code, out, errs := line(t, "verify", "--data", copied); code != 4 || !strings.Contains(out+errs, "large.bin") {
				t.Errorf("%s: verified: %d %s%s", name, code, out, errs)
			}
			if err := os.RemoveAll(copied); err != nil {
				t.Fatal(err)
			}
		}
	}
	if code, _, errs := line(t, "verify", "--data", copied); code != 2 {
		t.Errorf("nothing restored: %d %s", code, errs)
	}
	if err := os.MkdirAll(filepath.Join(copied, restoring, "store"), 0o700); err != nil { // as one that was killed leaves
		t.Fatal(err)
	}
	for _, args := range [][]string{{"restore", whole, "--data", copied}, {"verify", "--data", copied}} {
		if code, out, errs := line(t, args...); code != 0 {
			t.Errorf("%s: %d %s%s", args, code, out, errs)
		}
	}
	if code, _, errs := line(t, "restore", whole, "--data", copied); code != 1 || !strings.Contains(errs, "already contains store") {
		t.Errorf("twice: %d %s", code, errs)
	}
	if _, out, _ := line(t, "verify", "--data", copied, "--json"); out != "{\n  \"problems\": []\n}\n" {
		t.Errorf("verified: %s", out)
	}
}

// TestBackupServed takes copies of a running server that are larger than any one file may be, into a file and to
// standard output. What a proxy cuts short leaves no file behind, and restore refuses what came. A client that does
// not take its copy does not keep the server from ending.
func TestBackupServed(t *testing.T) {
	dir := t.TempDir()
	folder, copied, whole := filepath.Join(dir, "folder"), filepath.Join(dir, "copied"), filepath.Join(dir, "whole.tar")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		name, text := fmt.Sprint(i, ".bin"), bytes.Repeat(fmt.Appendf(nil, "part %2d\x00", i), 110_000)
		if i%2 == 0 { // a note, which is in the store
			name, text = fmt.Sprint(i, ".txt"), bytes.ReplaceAll(text, []byte{0}, []byte{' '})
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := startServer(t, filepath.Join(dir, "data"), "--limit-file", "1 MiB", "--drain", "10ms")
	t.Setenv("CATENA_PASSWORD", adminPassword)
	var streamed string
	for _, args := range [][]string{{"import", folder, "--into", "/default-domain/workspaces"}, {"backup", whole}, {"backup", "-"}} {
		code, out, errs := line(t, append(args, "--server", p.base)...)
		if code != 0 {
			t.Fatalf("%s: %d %s", args, code, errs)
		}
		streamed = out
	}
	if info, err := os.Stat(whole); err != nil || info.Size() < 17_000_000 || len(streamed) < 17_000_000 {
		t.Fatalf("%v %v; %d bytes to standard output", info, err, len(streamed))
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, streamed[:len(streamed)/2])
		panic(http.ErrAbortHandler)
	}))
	defer proxy.Close()
	cut := filepath.Join(dir, "cut.tar")
	if code, _, errs := line(t, "backup", cut, "--server", proxy.URL); code != 1 || !strings.Contains(errs, "cut short") {
		t.Errorf("cut: %d %s", code, errs)
	}
	if names := filesIn(t, dir); !slices.Equal(names, []string{"data", "folder", "whole.tar"}) {
		t.Errorf("left %q", names)
	}
	code, out, _ := line(t, "backup", "-", "--server", proxy.URL)
	if code != 1 || out == "" || len(out) > len(streamed)/2 {
		t.Errorf("cut: %d, %d bytes", code, len(out))
	}
	for i, want := range []int{4, 0} {
		var errs bytes.Buffer
		from := strings.NewReader([]string{out, streamed}[i])
		if code := run(t.Context(), []string{"restore", "-", "--data", copied}, from, io.Discard, &errs); code != want {
			t.Errorf("restore: %d %s, want %d", code, &errs, want)
		}
	}
	if code, out, errs := line(t, "verify", "--data", copied); code != 0 {
		t.Errorf("verify: %d %s%s", code, out, errs)
	}
	unread, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.base+"/api/v1/backup", nil)
	if err != nil {
		t.Fatal(err)
	}
	unread.SetBasicAuth("Administrator", adminPassword)
	resp, err := http.DefaultClient.Do(unread)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p.stop(t) // the server ends all the same
}
