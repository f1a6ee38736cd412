package document

import (
	"slices"
	"strings"

	"catena/rest"
	"catena/storage/fault"
)

// Parameters that ask for a part of a list, and those of queries.
const (
	paging     = "pageSize currentPageIndex offset maxResults sortBy sortOrder"
	queryQuery = paging + " query queryParams after quickFilters highlight countLimit"
)

// pageParams are the parameters that ask for a part of a list.
func pageParams(x *rest.Request, _ string) rest.Values {
	out := rest.Values{}
	rest.Pick(out, x.Query(), strings.Fields(paging)...)
	return out
}

func providerParams(x *rest.Request, args string) rest.Values {
	out := queryParams(x)
	out["providerName"] = args
	return out
}

// queryParams are the parameters of a query: what is not known by name fills the query's
// named parameters.
func queryParams(x *rest.Request) rest.Values {
	q := x.Query()
	out := pageParams(x, "")
	rest.Pick(out, q, "after", "query", "quickFilters", "highlight", "countLimit")
	v := q["queryParams"]
	if none := len(v) == 1 && v[0] == "" && !strings.Contains(q.Get("query"), "?"); len(v) > 0 && !none {
		out["queryParams"] = v
	}
	if v := rest.Header(x.HTTP.Header, "Skipaggregates"); v != "" {
		out["skipAggregates"] = v
	}
	rest.Pick(out, q, "skipAggregates")
	named := rest.Values{}
	for name, v := range q {
		if len(v) > 0 && !reserved(name) {
			named[name] = v[0]
		}
	}
	if len(named) > 0 {
		out["namedParameters"] = named
	}
	return out
}

// notNamed are query parameters that are no named parameters of a query.
var notNamed = []string{
	"URLCodecName", "after", "countLimit", "currentPageIndex", "depth", "dryRun", "highlight", "maxResults", "nxrepository", "offset", "pageProvider",
	"pageSize", "properties", "query", "queryParams", "quickFilters", "skipAggregates", "sortBy", "sortOrder", "trace",
}

func reserved(name string) bool {
	if slices.Contains(notNamed, name) {
		return true
	}
	for _, p := range []string{"enrichers", "fetch", "translate"} {
		if rest, ok := strings.CutPrefix(name, p); ok && rest != "" && (rest[0] == '.' || rest[0] == '-') {
			return true
		}
	}
	return false
}

func fromQuery(x *rest.Request) (rest.Values, error) { return queryParams(x), nil }

// inLanguage refuses query languages other than the one there is.
func inLanguage(x *rest.Request) (rest.Values, error) {
	lang, err := x.Param("lang")
	if err == nil && lang != "NXQL" {
		err = fault.Invalid.Errorf("query language %q: only NXQL is supported", lang)
	}
	return queryParams(x), err
}

func fromProvider(x *rest.Request) (rest.Values, error) {
	name, err := x.Param("provider")
	return providerParams(x, name), err
}
