//go:build !race

package main

import (
	"strings"
	"testing"
)

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
