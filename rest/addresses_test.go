package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/rest"
	"catena/rest/server"
)

// address is an address as the tables write it, "@name" for an adapter, and what is read of a body sent there.
type address struct {
	name string
	body rest.Body
}

// allAddresses are all addresses there are.
func allAddresses() (all []address) {
	known := map[string]bool{}
	add := func(method, path string, b rest.Body) {
		if method == http.MethodGet || method == http.MethodDelete {
			b = rest.NoBody
		}
		if name := method + " " + path; !known[name] {
			known[name] = true
			all = append(all, address{name, b})
		}
	}
	platform, top := server.Routes(nil)
	for _, r := range platform {
		add(r.Method, "/api/v1"+r.Path, r.Body)
	}
	for _, r := range top {
		add(r.Method, r.Path, r.Body)
	}
	for _, r := range platform {
		for _, p := range r.Parts {
			if _, adapter, ok := strings.Cut(p.Path, "/@"); ok && strings.HasPrefix(r.Path, "/id/") {
				name, _, _ := strings.Cut(adapter, "/")
				add(r.Method, "@"+name, p.Body)
			}
		}
	}
	return all
}

// deckAddresses are the deck service's addresses as its description writes them.
func deckAddresses() (all []string) {
	_, top := server.Routes(nil)
	for _, r := range top {
		if strings.HasPrefix(r.Path, "/v1/") {
			all = append(all, r.Method+" "+templateOf(r.Path))
		}
	}
	return all
}

// describedAddresses are the addresses that the platform's description has to describe.
func describedAddresses() (all []string) {
	for _, r := range server.Described() {
		all = append(all, r.Method+" "+templateOf(r.Path))
	}
	return all
}

// templateOf writes a path as OpenAPI does.
func templateOf(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if at := strings.IndexAny(part, ":*"); at >= 0 {
			parts[i] = part[:at] + "{" + part[at+1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

// tally counts requests by the table that they come from.
type tally map[string]int

// least has the test fail where fewer requests of a table than it says were counted: it would not test much.
func (c tally) least(t *testing.T, what string, min tally) {
	t.Helper()
	t.Logf("%s: %v", what, c)
	for table, n := range min {
		if c[table] < n {
			t.Errorf("%s: %d of table %s, want %d or more", what, c[table], table, n)
		}
	}
}
