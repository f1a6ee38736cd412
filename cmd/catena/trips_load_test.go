package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRoundTripsOfLoad bounds how often a transaction of a load waits for the database before its commit, however many records it has.
func TestRoundTripsOfLoad(t *testing.T) {
	w := newTrips(t)
	s, store := w.s, w.store
	s.Do("POST", "/nuxeo/api/v1/path/default-domain/workspaces", `{"entity-type":"document","type":"Workspace","name":"desk"}`)
	const records = 90
	for _, load := range []struct {
		what, query, prefix, status string
		most                        int
	}{
		{"new records, and what nobody has asked for", "", "a", "created", 20},
		{"new records", "", "b", "created", 1},
		{"new records by name", "&key=name", "c", "created", 4},
		{"records that are there, by name", "&key=name", "c", "skipped", 3},
		{"records to change, by name", "&key=name&existing=update", "c", "updated", 3},
		{"new records by title", "&key=dc:title", "d", "created", 2},
		{"records that are there, by title", "&key=dc:title", "d", "skipped", 2},
	} {
		var lines strings.Builder
		for i := range records {
			fmt.Fprintf(&lines, `{"name":"%s%d","dc:title":"Title %s%d","dc:description":%q}`+"\n", load.prefix, i, load.prefix, i, load.query)
		}
		store.counted()
		a := s.Do("POST", "/nuxeo/api/v1/bulk?into=/default-domain/workspaces/desk"+load.query, lines.String(), "Content-Type", "application/x-ndjson")
		if n := strings.Count(a.Text, `"status":"`+load.status+`"`); a.StatusCode != http.StatusOK || n != records {
			t.Fatalf("%s: %s, %d %s of %d: %.500s", load.what, a.Status, n, load.status, records, a.Text)
		}
		trace := store.trace
		most, _ := store.counted()
		if t.Logf("%s: %d round trips", load.what, most); most > load.most {
			t.Errorf("%s: %d round trips, want %d at most\n%s", load.what, most, load.most, strings.Join(trace, "\n"))
		}
	}
}
