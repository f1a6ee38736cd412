package rest

import (
	"net/http"
	"slices"

	"catena/rest/web"
	"catena/storage/fault"
)

// problemsPath is the page that the type of every error leads to.
const problemsPath = "/docs/problems"

// problemType leads to what the page says of an error.
func (x *exchange) problemType(err error) string {
	return x.prefix() + problemsPath + "#" + fault.Word(err)
}

// problems is the page about the kinds of error and the codes.
func problems(x *exchange) error {
	var kinds []web.Kind
	for k := range fault.Kinds() {
		kind := web.Kind{Name: k.String(), Meaning: k.Meaning(), Status: statusText(statuses[k]), Passes: k.Passes()}
		if deck := deckStatus(k.Errorf("")); deck != statuses[k] {
			kind.DeckStatus = statusText(deck)
		}
		kinds = append(kinds, kind)
	}
	p, err := x.site().Problems(kinds, explained())
	return x.publicPage(p, err)
}

// explained are all codes for the page.
func explained() []web.Code {
	var out []web.Code
	for c := range fault.Codes() {
		code := web.Code{Name: c.String(), When: c.When(), Remedy: c.Remedy()}
		for _, k := range c.Kinds() {
			code.Kinds = append(code.Kinds, k.String())
			for _, status := range [...]int{statusOf(k.Errorf("").WithCode(c)), deckStatus(k.Errorf("").WithCode(c))} {
				if s := statusText(status); !slices.Contains(code.Statuses, s) {
					code.Statuses = append(code.Statuses, s)
				}
			}
		}
		out = append(out, code)
	}
	return out
}

func statusText(status int) web.Status {
	return web.Status{Number: status, Text: http.StatusText(status)}
}
