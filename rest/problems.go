package rest

import (
	"maps"
	"net/http"
	"slices"

	"catena/rest/web"
	"catena/storage/fault"
)

// problemsPath is the page that the type of every error leads to.
const problemsPath = "/docs/problems"

// problems is the page about the kinds of error, and the codes whose status is not their kind's.
func problems(x *exchange) error {
	var kinds []web.Kind
	for k := range fault.Kinds() {
		kind := web.Kind{Name: k.String(), Meaning: k.Meaning(), Status: statusText(statuses[k]), Passes: k.Passes()}
		if deck := deckStatus(k.Errorf("")); deck != statuses[k] {
			kind.DeckStatus = statusText(deck)
		}
		kinds = append(kinds, kind)
	}
	var codes []web.Code
	for _, code := range slices.Sorted(maps.Keys(codeStatuses)) {
		codes = append(codes, web.Code{Name: code, Status: statusText(codeStatuses[code])})
	}
	return x.publicPage(x.site().Problems(kinds, codes))
}

func statusText(status int) web.Status {
	return web.Status{Number: status, Text: http.StatusText(status)}
}
