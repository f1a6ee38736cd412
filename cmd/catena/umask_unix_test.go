//go:build unix

package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestFilesAreTheOwners: whatever mask the server runs with, nobody but its user can read a file of the data directory,
// of a backup or of a directory that was restored, nor look into a folder of theirs; and secrets are in none of them as
// they are.
func TestFilesAreTheOwners(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	g := &global{data: filepath.Join(dir, "data"), logLevel: "error", logFormat: "text"}
	if err := g.initialize(t.Context(), &bytes.Buffer{}, adminPassword, true); err != nil {
		t.Fatal(err)
	}
	from := t.TempDir()
	if err := os.WriteFile(filepath.Join(from, "large.txt"), bytes.Repeat([]byte("a file of its own\n"), 10_000), 0o600); err != nil {
		t.Fatal(err)
	}
	catena := func(args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, nil, &out, &errs); code != 0 {
			t.Fatalf("%v: exit code %d: %s", args, code, &errs)
		}
		return out.String()
	}
	backup, copied := filepath.Join(dir, "backup.tar"), filepath.Join(dir, "copy")
	catena("import", from, "--into", "/default-domain/workspaces", "--data", g.data)
	key := strings.TrimSpace(catena("key", "create", "--user", "Administrator", "--scope", "read_write", "--name", "k", "--data", g.data))
	catena("backup", backup, "--data", g.data)
	catena("restore", backup, "--data", copied)
	parts := strings.SplitN(key, "_", 3) // cat, its number, the secret
	if len(parts) < 3 || len(parts[2]) < 20 {
		t.Fatalf("no key: %q", key)
	}
	secrets := []string{adminPassword, parts[2]}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if open := info.Mode().Perm() & 0o077; open != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		if d.IsDir() {
			return nil
		}
		files++
		b, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(b, []byte(secret)) {
				t.Errorf("%s: holds a secret as it is", path)
			}
		}
		return err
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, %v", files, err)
	}
}
