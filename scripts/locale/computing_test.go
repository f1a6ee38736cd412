//go:build !race

package locale

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAsNode evaluates thousands of formats in all locales and compares them with what node answers.
func TestAsNode(t *testing.T) {
	if *update {
		cmd := exec.CommandContext(t.Context(), "node", "intl.mjs")
		cmd.Dir = "testdata"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "intl.golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]json.RawMessage
	if err := json.Unmarshal(raw, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) < 4000 {
		t.Fatalf("only %d rows", len(rows))
	}
	vm := runtime(t)
	differ := 0
	for _, row := range rows {
		var source string
		if err := json.Unmarshal(row[0], &source); err != nil {
			t.Fatal(err)
		}
		v, err := vm.RunString("JSON.stringify(" + source + ")")
		if err != nil {
			t.Errorf("%s: %v", source, err)
		} else if got := v.String(); got != string(row[1]) {
			t.Errorf("%s:\n got %s\nwant %s", source, got, row[1])
		} else {
			continue
		}
		if differ++; differ > 4000 {
			t.Fatal("and more")
		}
	}
}
