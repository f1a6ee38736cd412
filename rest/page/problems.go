package page

import (
	"net/http"
	"slices"

	"catena/rest"
	"catena/rest/web"
	"catena/storage/fault"
)

// ErrorCodes is the page about the kinds of error and the codes.
func ErrorCodes(x *rest.Request) error {
	var kinds []web.Kind
	for k := range fault.Kinds() {
		kind := web.Kind{Name: k.String(), Meaning: k.Meaning(), Status: statusText(rest.Statuses[k]), Passes: k.Passes()}
		if deck := rest.DeckStatusOf(k.Errorf("")); deck != rest.Statuses[k] {
			kind.DeckStatus = statusText(deck)
		}
		kinds = append(kinds, kind)
	}
	p, err := x.Site().Problems(kinds, explained())
	return x.ShowPublic(p, err)
}

// explained are all codes for the page.
func explained() []web.Code {
	var out []web.Code
	for c := range fault.Codes() {
		code := web.Code{Name: c.String(), When: c.When(), Remedy: c.Remedy()}
		for _, k := range c.Kinds() {
			code.Kinds = append(code.Kinds, k.String())
			for _, status := range [...]int{rest.StatusOf(k.Errorf("").WithCode(c)), rest.DeckStatusOf(k.Errorf("").WithCode(c))} {
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
