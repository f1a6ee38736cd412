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
