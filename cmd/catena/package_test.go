package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// debianProgram returns the path of a program of Debian, or skips the test.
func debianProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skip(err)
	}
	return path
}

// TestPackage makes the package for Debian of a small program, and has lintian find nothing in it, not even a remark.
func TestPackage(t *testing.T) {
	lintian := debianProgram(t, "lintian")
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "main.go"), filepath.Join(dir, "catena")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, source)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, version := range []string{"v1.2.3", "v1.2.3-4-g0123abc", "0123abc"} {
		pack := exec.CommandContext(t.Context(), deliveredAt+"deploy/deb/build", binary, version, "amd64", dir)
		pack.Env = append(os.Environ(), "DEBFULLNAME=A Packager", "DEBEMAIL=packages@catena.net")
		if out, err := pack.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.deb"))
	if err != nil || len(made) != 3 {
		t.Fatalf("%q, %v", made, err)
	}
	out, err := exec.CommandContext(t.Context(), lintian, append([]string{"--allow-root", "--pedantic", "--display-info"}, made...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestUnit has systemd read the unit; what it does not know would be left out with no more than a line in its log.
func TestUnit(t *testing.T) {
	analyze := debianProgram(t, "systemd-analyze")
	unit, err := os.ReadFile(deliveredAt + "deploy/catena.service")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct{ old, with, want string }{
		{"", "", ""},
		{"LockPersonality=yes", "LockPersonalty=yes", "'LockPersonalty'"},
	} {
		text := strings.ReplaceAll(string(unit), "/usr/local/bin/catena", "/bin/true")
		if text = strings.Replace(text, x.old, x.with, 1); x.old != "" && !strings.Contains(text, x.with) {
			t.Fatalf("the unit has no %s", x.old)
		}
		file := filepath.Join(t.TempDir(), "catena.service")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
		if x.want == "" && (err != nil || len(out) > 0) || !strings.Contains(string(out), x.want) {
			t.Errorf("%q: %v\n%s", x.with, err, out)
		}
	}
}
