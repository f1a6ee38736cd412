//go:build unix

package declare_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"catena/storage/declare"
	"catena/storage/fault"
)

// TestReadFile reads what a folder may hold besides texts: nothing waits, and nothing fills the memory.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"largest": declare.MaxFile, "larger": declare.MaxFile + 1} {
		if err := os.WriteFile(at(name), bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("/dev/zero", at("zero")), os.Mkdir(at("folder"), 0o700), os.Symlink("nowhere", at("lost"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"largest": "", "larger": "larger than 1048576 bytes", "pipe": "not a file", "zero": "not a file", "folder": "not a file", "lost": "no such file",
	} {
		b, err := declare.ReadFile(os.DirFS(dir), name)
		if want == "" && (err != nil || len(b) != declare.MaxFile) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	for source, line := range map[string]int{"": 0, "a\nü\n": 0, "\xff": 1, "a\nb\nc\xfc": 3} {
		got, err := declare.Text(strings.NewReader(source))
		if line == 0 && (err != nil || got != source) {
			t.Errorf("%q: %q, %v", source, got, err)
		}
		if f, ok := err.(*fault.Error); line > 0 && (!ok || f.Line != line || f.Kind != fault.Invalid) { //nolint:errorlint // as it comes
			t.Errorf("%q: %v, want line %d", source, err, line)
		}
	}
}
