package page

import (
	"net/http"

	"catena/rest"
	"catena/rest/web/docs"
	"catena/storage/fault"
)

// Manual answers with the first page of the manual, or with what a search finds in it.
func Manual(x *rest.Request) error {
	if q := x.Query().Get("q"); q != "" {
		p, err := x.Site().SearchManual(q)
		return x.Show(http.StatusOK, p, err)
	}
	p, err := x.Site().Manual(docs.Pages()[0])
	return x.ShowPublic(p, err)
}

// ManualPage answers with a page of the manual.
func ManualPage(x *rest.Request) error {
	name, err := x.Param("page")
	if err != nil {
		return err
	}
	found := docs.Find(name)
	if found == nil {
		return fault.NotFound.Errorf("manual page %.100q", name)
	}
	p, err := x.Site().Manual(found)
	return x.ShowPublic(p, err)
}
