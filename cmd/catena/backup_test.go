package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRestore restores backups that are damaged, in the store's part and in that of files: they are refused as such,
// and leave no data directory that could be taken for one. Then the whole one goes into the same directory.
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
		if left, err := os.ReadDir(copied); err != nil || len(left) > 0 {
			t.Errorf("%s: left %v %v", name, left, err)
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
	if code, _, errs := line(t, "restore", whole, "--data", copied); code != 1 || !strings.Contains(errs, "has store already") {
		t.Errorf("twice: %d %s", code, errs)
	}
	if _, out, _ := line(t, "verify", "--data", copied, "--json"); out != "{\n  \"problems\": []\n}\n" {
		t.Errorf("verified: %s", out)
	}
}
