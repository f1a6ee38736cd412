package rest

import "strings"

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

// Addresses are all addresses there are, as the tables write them, and "@name" for each adapter.
func Addresses() (all []string) {
	for _, r := range apiRoutes() {
		all = append(all, r.method+" /api/v1"+r.path)
	}
	for _, r := range topRoutes() {
		all = append(all, r.method+" "+r.path)
	}
	for _, a := range adapters {
		all = append(all, a.method+" @"+a.name)
	}
	return all
}
