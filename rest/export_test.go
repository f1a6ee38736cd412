package rest

import (
	"net/http"
	"strings"
)

// DeckAddresses are the deck service's addresses as its description writes them.
func DeckAddresses() (all []string) {
	for _, r := range deckRoutes() {
		if !strings.HasPrefix(r.path, "/v1/") {
			continue
		}
		parts := strings.Split(r.path, "/")
		for i, part := range parts {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		all = append(all, r.method+" "+strings.Join(parts, "/"))
	}
	return all
}

// Address is an address as the tables write it, "@name" for an adapter, and what is read of a body sent there.
type Address struct {
	Name string
	Body Body
}

// Body is what is read of a body.
type Body = body

// NoBody is read where nothing is.
const NoBody = noBody

// Takes reports whether a body of a media type is read.
func (b body) Takes(typ string) bool { return b.takes(typ) }

// Addresses are all addresses there are.
func Addresses() (all []Address) {
	add := func(method, path string, b body) {
		if method == http.MethodGet || method == http.MethodDelete {
			b = noBody
		}
		all = append(all, Address{method + " " + path, b})
	}
	for _, r := range apiRoutes() {
		add(r.method, "/api/v1"+r.path, r.body)
	}
	for _, r := range topRoutes(nil) {
		add(r.method, r.path, r.body)
	}
	for _, a := range adapters {
		add(a.method, "@"+a.name, a.body)
	}
	return all
}

// Described are the addresses that the platform's description has to tell of.
func DescribedAddresses() (all []string) {
	for _, r := range Described() {
		path, _ := template(r.path)
		all = append(all, r.method+" "+path)
	}
	return all
}
