//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOthersDirectory: root is refused the data directory of another user, whose server could not open what root makes
// there, before anything is made.
func TestOthersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may give a directory away")
	}
	const other = 12345
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("CATENA_ADMIN_PASSWORD", adminPassword)
	if code, out, errs := line(t, "init", "--data", data); code != 0 {
		t.Fatalf("%d: %s%s", code, out, errs)
	}
	each := func(do func(path string, info fs.FileInfo) error) {
		t.Helper()
		if err := filepath.Walk(data, func(path string, info fs.FileInfo, err error) error {
			if err != nil {
				return err
			}
			return do(path, info)
		}); err != nil {
			t.Fatal(err)
		}
	}
	each(func(path string, _ fs.FileInfo) error { return os.Lchown(path, other, other) })
	for _, args := range [][]string{{"verify"}, {"compact"}, {"user", "list"}, {"serve", "--addr", "127.0.0.1:0"}, {"copy", data, "postgres://catena@127.0.0.1:1/catena"}} {
		if args[0] != "copy" {
			args = append(args, "--data", data)
		}
		want := "catena: " + data + " belongs to the user 12345, whose server could not open files that root makes there: run this as 12345\n"
		if code, out, errs := line(t, args...); code != 2 || errs != want {
			t.Errorf("%v: %d: %s%s", args, code, out, errs)
		}
	}
	each(func(path string, info fs.FileInfo) error {
		if s, ok := info.Sys().(*syscall.Stat_t); !ok || s.Uid != other {
			t.Errorf("%s belongs to root", path)
		}
		return nil
	})
}
