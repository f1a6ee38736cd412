package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTraceOfFailure: run --trace prints the steps also when the call fails.
func TestTraceOfFailure(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	t.Setenv("CATENA_ADMIN_PASSWORD", adminPassword)
	if code, _, errs := line(t, "init", "--data", data); code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	file := filepath.Join(t.TempDir(), "fails.yaml")
	source := "name: Test.Fails\nsteps:\n  - op: Repository.GetDocument\n    params: {value: /}\n  - op: Document.GetChild\n    params: {name: missing}\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := line(t, "chain", "apply", file, "--data", data); code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	code, _, errs := line(t, "run", "Test.Fails", "--data", data, "--trace")
	if code == 0 {
		t.Error("it went well")
	}
	for _, want := range []string{"Test.Fails: void → failed: ", "  Repository.GetDocument line 3: void → ", "  Document.GetChild line 5: ", "/missing"} {
		if !strings.Contains(errs, want) {
			t.Errorf("no %q in:\n%s", want, errs)
		}
	}
}
