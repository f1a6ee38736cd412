package rest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are operations of the specification whose outcome other tests assert: those that need a script worker, in
// scripts and cmd/catena.
var elsewhere = []string{"RunInputScript", "RunScript"}

// TestSpecifiedOperations checks that the files 3…-operations-….txt of testdata/wire, which TestWire plays, assert an outcome, not
// only a status of success, of every operation that the specification names (testdata/operations.txt).
func TestSpecifiedOperations(t *testing.T) {
	text, err := os.ReadFile("testdata/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	asserted := assertedOperations(t)
	names := strings.Fields(string(text))
	if len(names) != 268 {
		t.Errorf("%d operations, want 268", len(names))
	}
	for _, name := range names {
		if !asserted[name] && !slices.Contains(elsewhere, name) {
			t.Errorf("%s: no outcome is asserted", name)
		}
	}
}

// assertedOperations are the operations with a request that an outcome is asserted of.
func assertedOperations(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("testdata/wire/3*-operations-*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	out := map[string]bool{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		name := ""
		for line := range strings.SplitSeq(string(text), "\n") {
			if m := isRequest.FindStringSubmatch(line); m != nil {
				// what a request changes is also asserted by the GET after it
				if op, ok := strings.CutPrefix(m[2], "/automation/"); ok {
					name = op
				} else if m[1] != "GET" {
					name = ""
				}
				continue
			}
			if isOutcome(line) {
				out[name] = true
			}
		}
	}
	return out
}

// isOutcome reports whether a line of a file asserts more than that a request went well.
func isOutcome(line string) bool {
	return line != "" && strings.ContainsAny(line[:1], ".~<") || strings.HasPrefix(line, "==") || strings.HasPrefix(line, "= ") && line != "= 200"
}
