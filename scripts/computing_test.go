//go:build !race

package scripts

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestRegexpsAsNode compares with what node finds. With -update node makes the table again.
func TestRegexpsAsNode(t *testing.T) {
	file := filepath.Join("testdata", "regexp.golden.json")
	if *update {
		names, _ := json.Marshal(propertyNames())
		list := filepath.Join(t.TempDir(), "names.json")
		if err := os.WriteFile(list, names, 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", "regexp.mjs", list)
		cmd.Dir = "testdata"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var g regexpGolden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	run := func(source string, params map[string]any) []any {
		v, err := inProcess(newFakeHost(), Limits{Wall: 5 * time.Minute, Output: 64 << 20, Memory: 1 << 30}, "r.js", source, true, nil, params)
		if err != nil {
			t.Fatal(err)
		}
		return v.([]any)
	}
	// A script runs for ten seconds at most, so a few rows are compared at a time.
	rowsOf := func(rows [][]any, n int) []any {
		out := make([]any, len(rows))
		for i, c := range rows {
			out[i] = c[:n]
		}
		return out
	}
	var bits, got []any
	for part := range slices.Chunk(g.Classes, 20) {
		bits = append(bits, run(bitsScript, map[string]any{"samples": g.Samples, "rows": rowsOf(part, 2)})...)
	}
	for part := range slices.Chunk(g.Found, 20) {
		got = append(got, run(foundScript, map[string]any{"rows": rowsOf(part, 3)})...)
	}
	for i, got := range bits {
		if want := g.Classes[i][2].(string); got != want {
			t.Errorf("/%s/%s: differs at %s", g.Classes[i][0], g.Classes[i][1], differing(g.Samples, got.(string), want))
		}
	}
	for i, c := range g.Found {
		var v any
		if err := json.Unmarshal([]byte(got[i].(string)), &v); err != nil {
			t.Fatal(err)
		}
		if a, b := fmt.Sprint(v), fmt.Sprint(c[3]); a != b {
			t.Errorf("/%s/%s in %q: got %s, want %s", c[0], c[1], c[2], a, b)
		}
	}
	if n := len(g.Classes)*len(g.Samples) + len(g.Found); n < 100_000 {
		t.Errorf("only %d pairs", n)
	}
}
