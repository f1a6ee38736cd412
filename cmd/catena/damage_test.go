package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"catena/storage/maintenance"
)

// TestDamagedContent changes a bit of a file's content in a data directory. All commands that read it list the document and
// exit with 4, and everything else is copied and restored.
func TestDamagedContent(t *testing.T) {
	dir := t.TempDir()
	data, copied, folder, tar := filepath.Join(dir, "data"), filepath.Join(dir, "copied"), filepath.Join(dir, "folder"), filepath.Join(dir, "copy.tar")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"bad.bin", "good.bin"} {
		if err := os.WriteFile(filepath.Join(folder, name), bytes.Repeat([]byte(name+"\x00\x01"), 70_000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "--data", data}, {"import", folder, "--into", "/default-domain/workspaces", "--data", data}} {
		if code, out, errs := line(t, args...); code != 0 {
			t.Fatalf("%s: %d %s%s", args, code, out, errs)
		}
	}
	flipped := ""
	err := filepath.WalkDir(filepath.Join(data, "blobs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(d.Name()) != 64 {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil || !bytes.HasPrefix(text, []byte("bad")) {
			return err
		}
		flipped = d.Name()
		text[400_000] ^= 1
		return os.WriteFile(p, text, 0o600)
	})
	if err != nil || flipped == "" {
		t.Fatal(flipped, err)
	}
	for _, args := range [][]string{{"verify", "--data", data}, {"backup", tar, "--data", data}, {"restore", tar, "--data", copied}, {"verify", "--data", copied}} {
		code, out, errs := line(t, args...)
		if code != 4 || strings.Count(out, "\n") != 1 || !strings.Contains(out, "document /default-domain/workspaces/folder/bad.bin (") || !strings.Contains(out, "), file:content: content "+flipped) {
			t.Errorf("%s: %d %s%s", args, code, out, errs)
		}
		if args[0] == "verify" && !strings.Contains(errs, " documents, ") {
			t.Errorf("%s: no progress: %s", args, errs)
		}
	}
	code, out, errs := line(t, "verify", "--data", copied, "--json")
	var v struct {
		Problems []string
		Damaged  []maintenance.Damage
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != 4 || len(v.Damaged) != 1 || v.Damaged[0].XPath != "file:content" || v.Damaged[0].Digest != flipped || !strings.Contains(errs, `{"bytes":`) {
		t.Errorf("json: %d %s%s%v", code, out, errs, err)
	}
}
