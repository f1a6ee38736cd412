package web

import (
	"html/template"

	"catena/rest/web/docs"
)

// manual is what the template of the manual sees besides what all do.
type manual struct {
	Page    *docs.Page
	Body    template.HTML
	Pages   []*docs.Page
	Results []result
}

// result is a section that a search found.
type result struct {
	docs.Result
	Excerpt template.HTML
}

// Manual is a page of the manual. The page is the same for everybody.
func (s Site) Manual(p *docs.Page) (*Page, error) {
	body := template.HTML(p.HTML(s.Prefix)) //nolint:gosec // rendered from our own pages
	return (&view{Site: Site{Prefix: s.Prefix}, Title: p.Title, Manual: &manual{Page: p, Body: body, Pages: docs.Pages()}}).render("manual.html", framePolicy)
}

// SearchManual shows the sections of the manual that a search finds.
func (s Site) SearchManual(query string) (*Page, error) {
	m := &manual{Pages: docs.Pages()}
	for _, r := range docs.Search(query) {
		m.Results = append(m.Results, result{r, template.HTML(r.Excerpt)}) //nolint:gosec // package text escapes it
	}
	return (&view{Site: Site{Prefix: s.Prefix}, Title: "Search the manual", Query: query, Manual: m}).render("manual.html", framePolicy)
}
