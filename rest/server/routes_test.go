package server

import (
	"strings"
	"testing"

	"catena/rest"
)

// TestTable looks for rows that nothing serves.
func TestTable(t *testing.T) {
	for name, table := range map[string][]rest.Route{"api": apiRoutes(), "top": topRoutes(nil)} {
		for _, r := range table {
			if r.Handle == nil && r.Op == "" || !strings.HasPrefix(r.Path, "/") {
				t.Errorf("%s: row %s %s is incomplete", name, r.Method, r.Path)
			}
		}
	}
}
