package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCompact deletes most of what a data directory holds and compacts it: what is left is whole, and takes little room.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	for _, sub := range []string{"old", "new"} {
		folder := filepath.Join(dir, sub)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for i := range 4 {
			note, file := bytes.Repeat(fmt.Appendf(nil, "%s%d ", sub, i), 100_000), bytes.Repeat(fmt.Appendf(nil, "%s%d\x00", sub, i), 100_000)
			if sub == "new" {
				note, file = note[:100], file[:100_000]
			}
			for name, text := range map[string][]byte{"note%d.txt": note, "file%d.bin": file} {
				if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf(name, i)), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const at = "/default-domain/workspaces"
	for _, args := range [][]string{
		{"init"},
		{"import", filepath.Join(dir, "old"), "--into", at},
		{"import", filepath.Join(dir, "new"), "--into", at},
		{"run", "Document.Delete", "--input", at + "/old"},
	} {
		if code, out, errs := line(t, append(args, "--data", data)...); code != 0 {
			t.Fatalf("%s: %d %s%s", args, code, out, errs)
		}
	}
	long := time.Now().AddDate(0, 0, -10) // contents are kept for a while after their documents
	if err := filepath.WalkDir(filepath.Join(data, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, long, long)
	}); err != nil {
		t.Fatal(err)
	}
	code, out, errs := line(t, "compact", "--data", data, "--json")
	var told struct{ Store, Blobs room }
	if err := json.Unmarshal([]byte(out), &told); code != 0 || err != nil {
		t.Fatalf("%d %s%s %v", code, out, errs, err)
	}
	if told.Store.Before < 2_000_000 || told.Store.After > told.Store.Before/2 || told.Blobs.Before < 2_000_000 || told.Blobs.After > 450_000 || told.Blobs.After < 400_000 {
		t.Errorf("%+v", told)
	}
	for _, args := range [][]string{{"verify"}, {"run", "Document.Fetch", "--param", "value=" + at + "/new/note3.txt"}, {"run", "Document.Fetch", "--param", "value=" + at + "/new/file3.bin"}} {
		if code, out, errs := line(t, append(args, "--data", data)...); code != 0 {
			t.Errorf("%s: %d %s%s", args, code, out, errs)
		}
	}
}
