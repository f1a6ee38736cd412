package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestReadOnlyEverywhere fires a read-only key of somebody who may do everything at every address,
// adapter, operation and tool there is: not a byte of the store changes. The same requests with a
// key that may write change it, so they are such as would.
func TestReadOnlyEverywhere(t *testing.T) {
	e := newEverything(t, "Administrator", "/default-domain/workspaces")
	e.fill("Canary")
	shots := slices.Concat(e.addresses(), e.operations(), e.tools())
	reader, writer := e.Key("Administrator", "read_only"), e.Key("Administrator", "read_write")
	before := e.rows()
	for _, s := range shots {
		if streams(s) || s.method == http.MethodGet && strings.HasSuffix(s.name, "/thumbnail") {
			continue // the server draws the picture for anyone who looks
		}
		version := e.version()
		a := e.send(s, bearer(reader, "X-HTTP-Method-Override", "DELETE")...)
		after := before
		if e.version() != version {
			after = e.rows()
		}
		e.noFault(s, a)
		if keys := changed(before, after); len(keys) > 0 {
			t.Errorf("%s: %s %.100q: changes %.300s", s.name, a.Status, a.Text, keys)
			before = after
		}
	}
	effective := tally{}
	var idle []string
	try := func(s shot, changes bool, a *resttest.Answer) {
		if changes {
			effective[s.table]++
		} else {
			idle = append(idle, fmt.Sprintf("%s: %s %.120s", s.name, a.Status, a.Text))
		}
	}
	for _, s := range shots {
		if s.method == http.MethodGet || s.table == "tool" {
			continue
		}
		sep := "?"
		if strings.Contains(s.path, "?") {
			sep = "&"
		}
		s.path += sep + "dryRun=true"
		a := e.send(s, bearer(writer)...)
		try(s, strings.Contains(a.Text, `"changes":[{`), a)
	}
	for _, s := range shots { // tools can be tried in earnest only
		if s.table == "tool" {
			version := e.version()
			a := e.send(s, bearer(writer)...)
			try(s, e.version() != version, a)
		}
	}
	effective.least(t, "with a key that may write, would change something", tally{"address": 35, "adapter": 5, "operation": 65, "tool": 35})
	if t.Failed() {
		t.Log(strings.Join(idle, "\n"))
	}
}
