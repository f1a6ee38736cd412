package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestSurvey measures a small module.
func TestSurvey(t *testing.T) {
	var out bytes.Buffer
	missed, err := survey(&out, "testdata/tree", true)
	if err != nil {
		t.Fatal(err)
	}
	const want = `
MEASUREMENT VALUE TARGET
lines of a file: median / p95 / max 18 / 43 / 43 max ≤ 500
lines of a function: median / p95 / max 1 / 21 / 21 max ≤ 61
import depth of cmd/catena 3 ≤ 11
cmd/catena
storage
storage/kv
exported symbols with a comment 83.3 % ≥ 99.9 % missed
storage/storage.go:12: Put
comment lines 11.1 % 8–12 %
test lines per line of code, scenarios not counted 0.14 ≥ 0.60 missed
storage/kv/kvtest: 4 lines
init functions 1 ≤ 0 missed
cmd/catena/main.go:16: init
functions with cyclomatic complexity > 15 1 ≤ 30
storage/storage.go:23: Open: 17
functions with more than 5 parameters 1 ≤ 5
storage/storage.go:23: Open: 6
exported methods of storage.Tx 2 ≤ 60
storage/storage.go:10: Get
storage/storage.go:12: Put
packages with more than 40 files, tests excluded 0 ≤ 0
flags in the help of serve 11 ≤ 40
`
	if got := squeezed(out.String()); got != strings.TrimSpace(want) || missed != 3 {
		t.Errorf("%d missed:\n%s\nwant:\n%s", missed, got, want)
	}
}

// TestTree measures the module itself: what the table says about it must be found at all.
func TestTree(t *testing.T) {
	m, err := measure("../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.files) < 1000 || len(m.functions) < 5000 || m.exported < 1000 || len(m.verbs) < 10 || m.flags < 30 || len(m.chain) < 8 || m.chain[0] != "cmd/catena" {
		t.Errorf("%d files, %d functions, %d exported, %d methods of Tx, %d flags, imports %v", len(m.files), len(m.functions), m.exported, len(m.verbs), m.flags, m.chain)
	}
	harness := strings.Join(m.harness, "\n")
	for _, folder := range []string{"engine/scenario", "storage/kv/kvtest", "rest/resttest"} {
		if !strings.Contains(harness, folder+":") {
			t.Errorf("%s is counted as code; counted as tests:\n%s", folder, harness)
		}
	}
	if len(m.harness) > 30 {
		t.Errorf("%d packages belong to no command:\n%s", len(m.harness), harness)
	}
	if len(m.inits) > 0 {
		t.Errorf("init functions: %v", m.inits)
	}
	if m.flags > 40 {
		t.Errorf("%d flags in the help of serve", m.flags)
	}
}

// squeezed has single spaces between words.
func squeezed(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(lines, "\n")
}
