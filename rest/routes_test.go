package rest

import (
	"strings"
	"testing"
)

// TestTable looks for rows that nothing serves.
func TestTable(t *testing.T) {
	for name, table := range map[string][]route{"api": apiRoutes(), "top": topRoutes(nil)} {
		for _, r := range table {
			if r.handle == nil && r.op == "" || !strings.HasPrefix(r.path, "/") {
				t.Errorf("%s: row %s %s is incomplete", name, r.method, r.path)
			}
		}
	}
}
