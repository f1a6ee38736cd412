package document

import (
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/query"
	"catena/storage/schema"
	"catena/storage/search"
)

var fetchByProperty = engine.Op{
	Name:     "Document.FetchByProperty",
	Label:    "Fetch By Property",
	Category: "Fetch",
	Doc:      "Returns the documents whose property has one of the values. The input does not matter.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(fetchByPropertyParams.run),
}

type fetchByPropertyParams struct {
	Property string   `json:"property" names:"xpath" doc:"Xpath of the property, for example dc:title, or a system field such as ecm:name."`
	Values   []string `json:"values" doc:"Values to look for; without values the result is empty."`
	Query    string   `json:"query,omitzero" doc:"Additional condition in the query language."`
}

func (p fetchByPropertyParams) run(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	// No values means no documents. Leaving the condition out would return every document instead.
	if len(p.Values) == 0 {
		return storage.Docs{}, nil
	}
	if n := len(p.Values); n > query.MaxList {
		return nil, fault.Limit.Errorf("values: %d, limit %d", n, query.MaxList).In("values")
	}
	// The name of the property becomes part of the query text, where no parameter can stand; so it must be a
	// name and nothing else. Values are bound as parameters.
	if _, err := schema.ParsePath(p.Property); err != nil {
		return nil, err
	}
	src, named := p.query()
	return every(c, src, search.Options{Named: named, PageOptions: storage.PageOptions{CountLimit: -1}})
}

func (p fetchByPropertyParams) query() (string, map[string]any) {
	var src strings.Builder
	src.WriteString("SELECT * FROM Document WHERE ")
	src.WriteString(p.Property)
	named := make(map[string]any, len(p.Values))
	if len(p.Values) == 1 {
		src.WriteString(" = :value0")
		named["value0"] = p.Values[0]
	} else {
		for i, value := range p.Values {
			name := "value" + strconv.Itoa(i)
			src.WriteString(map[bool]string{true: " IN (:", false: ", :"}[i == 0])
			src.WriteString(name)
			named[name] = value
		}
		src.WriteString(")")
	}
	// The brackets keep an OR in the condition from escaping the restriction to the values. The query runs
	// with the caller's rights, so a condition can exclude documents but not reveal any.
	if strings.TrimSpace(p.Query) != "" {
		src.WriteString(" AND (" + p.Query + ")")
	}
	return src.String(), named
}

// maxFetched bounds the unpaged list of documents, which is in memory as a whole; longer ones are read by
// pages.
const maxFetched = 100_000

// every reads all pages of a query.
func every(c *engine.Ctx, src string, o search.Options) (storage.Docs, error) {
	all := storage.Docs{}
	for {
		page, err := search.Query(c.Tx, src, o)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Docs...)
		// Pages are continued by a cursor, not by an offset: a cursor costs the same for every page.
		if page.Next == "" {
			return all, nil
		}
		if len(all) >= maxFetched {
			return nil, fault.Limit.Errorf("property: more than %d documents match, query them by pages", maxFetched).WithCode(fault.CodeDocuments)
		}
		o.After = page.Next
	}
}
