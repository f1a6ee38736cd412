package audit

import (
	"cmp"
	"maps"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// providers are the searches with a name.
// The names are those of the platform that its clients use.
var providers = map[string]string{
	"AUDIT_BROWSER":             "FROM LogEntry log ORDER BY log.eventDate DESC",
	"DOCUMENT_HISTORY_PROVIDER": "FROM LogEntry log WHERE log.docUUID = ? ORDER BY log.eventDate DESC",
	"EVENTS_VIEW":               "FROM LogEntry log ORDER BY log.eventDate DESC",
}

const historyPage = 50

var queryPage = engine.Op{
	Name:     "Audit.QueryWithPageProvider",
	Aliases:  []string{"Audit.PageProvider"},
	Label:    "Audit Query With Page Provider",
	Category: "Fetch",
	Doc: "Returns a page of audit records found by a query, written as for Audit.Query, or by a named query: AUDIT_BROWSER, " +
		"EVENTS_VIEW or DOCUMENT_HISTORY_PROVIDER, whose parameter is the id of a document. maxResults is accepted but ignored.",
	Effect:  engine.Reads,
	Callers: engine.Admins.OrStored(),
	Run:     engine.On(queryPageParams.run),
}

type queryPageParams struct {
	Provider  string        `json:"providerName,omitzero" doc:"Name of a query; AUDIT_BROWSER if neither a name nor a query is given."`
	Query     string        `json:"query,omitzero" doc:"A query."`
	Args      []string      `json:"queryParams,omitzero" doc:"Values for the question marks, in order."`
	Named     storage.Props `json:"namedQueryParams,omitzero" doc:"Values for :name."`
	PageSize  int           `json:"pageSize,omitzero" doc:"Maximum number of records per page; 50 by default."`
	Index     int           `json:"currentPageIndex,omitzero" doc:"Number of the page, starting at 0."`
	Page      int           `json:"page,omitzero" doc:"The same."`
	SortBy    string        `json:"sortBy,omitzero" doc:"Fields to sort by, separated by commas."`
	SortOrder string        `json:"sortOrder,omitzero" values:"ASC,DESC" widget:"Option" doc:"Direction for each field: ASC, or anything else for descending."`
	SortInfo  []string      `json:"sortInfo,omitzero" doc:"Fields to sort by, each ascending unless false follows."`
	Language  string        `json:"language" default:"NXQL" values:"NXQL" widget:"Option" unused:"true" doc:"Accepted but ignored."`
	Max       int           `json:"maxResults" default:"100" unused:"true" doc:"Accepted but ignored."`
}

func (p queryPageParams) run(c *engine.Ctx, _ engine.Void) (*storage.EntryPage, error) {
	src := p.Query
	if src == "" {
		var ok bool
		if src, ok = providers[cmp.Or(p.Provider, "AUDIT_BROWSER")]; !ok {
			return nil, fault.Missing("page provider", p.Provider, maps.Keys(providers)).WithCode(fault.CodeUnknownProvider)
		}
	}
	limits := c.Tx.Repo().Limits()
	// currentPageIndex and page mean the same in the platform. Giving both is not an error; the
	// larger one counts.
	size, index := cmp.Or(p.PageSize, historyPage), max(p.Index, p.Page)
	for _, n := range [...]struct {
		name  string
		value int
	}{{"pageSize", size}, {"currentPageIndex", p.Index}, {"page", p.Page}} {
		if n.value < 0 {
			return nil, fault.Invalid.Errorf("%s: must be at least 0", n.name).In(n.name)
		}
	}
	size = min(size, limits.PageSize)
	offset, err := engine.Offset(index, size)
	if err != nil {
		return nil, err
	}
	args := make([]any, len(p.Args))
	for i, v := range p.Args {
		args[i] = dated(v)
	}
	// The parameter takes precedence over context variables of the same name.
	named := variables(c)
	for name, v := range p.Named {
		named[name] = dated(v)
	}
	s, err := parse(c, src, args, named)
	if err != nil {
		return nil, err
	}
	if err := s.sortBy(p.sorting()); err != nil {
		return nil, err
	}
	f, err := s.run(c, offset, size, true)
	if err != nil {
		return nil, err
	}
	page := storage.Page{Offset: offset, Limit: size, Total: f.total, More: f.more, Provider: p.Provider, MaxPage: limits.PageSize}
	page.HasNext = f.more || f.total > page.Offset+len(f.entries)
	return &storage.EntryPage{Entries: f.entries, Page: page}, nil
}

// sorting returns the fields to sort by, each with a minus in front if it descends.
func (p queryPageParams) sorting() []string {
	var by []string
	orders := strings.Split(p.SortOrder, ",")
	for i, field := range strings.Split(p.SortBy, ",") {
		if field = strings.TrimSpace(field); field == "" {
			continue
		}
		if i >= len(orders) || !strings.EqualFold(strings.TrimSpace(orders[i]), "asc") {
			field = "-" + field
		}
		by = append(by, field)
	}
	// The older form, ascending by default while sortBy is descending: the platform has both rules.
	for _, info := range p.SortInfo {
		field, asc, _ := strings.Cut(strings.TrimSpace(info), " ")
		if strings.EqualFold(strings.TrimSpace(asc), "false") {
			field = "-" + field
		}
		by = append(by, field)
	}
	return by
}
