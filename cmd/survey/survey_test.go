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

// squeezed has single spaces between words.
func squeezed(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, strings.Join(strings.Fields(l), " "))
	}
	return strings.Join(lines, "\n")
}
