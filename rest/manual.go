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
	p, err := x.site().Manual(docs.Pages()[0])
	return x.publicPage(p, err)
}

// manualPage answers with a page of the manual.
func manualPage(x *exchange) error {
	name, err := x.param("page")
	if err != nil {
		return err
	}
	found := docs.Find(name)
	if found == nil {
		return fault.NotFound.Errorf("manual page %.100q", name)
	}
	p, err := x.site().Manual(found)
	return x.publicPage(p, err)
}
