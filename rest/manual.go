package rest

import (
	"net/http"

	"catena/rest/web/docs"
	"catena/storage/fault"
)

// manual answers with the first page of the manual, or with what a search finds in it.
func manual(x *exchange) error {
	if q := x.query().Get("q"); q != "" {
		p, err := x.site().SearchManual(q)
		return x.page(http.StatusOK, p, err)
	}
	return x.publicPage(x.site().Manual(docs.Pages()[0]))
}

// manualPage answers with a page of the manual.
func manualPage(x *exchange) error {
	name, err := x.param("page")
	if err != nil {
		return err
	}
	p := docs.Find(name)
	if p == nil {
		return fault.NotFound.Errorf("manual page %.100q", name)
	}
	return x.publicPage(x.site().Manual(p))
}
