// Package search holds operations on saved searches, and suggestions for search boxes. A saved search is a document
// in its owner's personal workspace, so that it can be shared like any other.
//
// A saved search keeps the provider and the parameters, not the results. It runs with the rights of anyone who
// runs it, so sharing one shows nobody more than they may read.
package search

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops returns the operations on saved searches and suggestions, with a function that names those parameters of a page
// provider that are lists; nil: there are none.
func Ops(lists func(provider string) []string) []engine.Op {
	return []engine.Op{
		aggregate,
		create(lists),
		execute,
		list(lists),
		read(lists),
		remove,
		suggest,
		update(lists),
		wait,
	}
}

const (
	category = "Search"
	typeName = "SavedSearch"
	folder   = "SavedSearches"
)

// words are the members of a saved search that are text, those of paging included.
var words = []string{
	"query", "queryLanguage", "pageProviderName", "pageSize", "currentPageIndex", "maxResults", "sortBy", "sortOrder", "contentViewData",
}

// named is what operations on one saved search are told.
type named struct {
	ID string `json:"id" doc:"The saved search's id."`
}

func (n named) find(c *engine.Ctx) (*storage.Doc, error) {
	d, err := c.Tx.Doc(storage.Ref(n.ID))
	// The operations must not become a way to read or delete documents of other types under another
	// name.
	if err == nil && d.Type().Name != typeName {
		err = fault.NotFound.Errorf("%s", n.ID)
	}
	return d, err
}

// props are the properties of a saved search; what the entity does not have stays. All members are kept
// as text, numbers in the form of JSON, because the platform's entity has them as text. A member that is
// null clears its property; one that is absent leaves it unchanged.
func props(entity map[string]any) (storage.Props, error) {
	p := storage.Props{}
	if title, ok := entity["title"].(string); ok {
		p["dc:title"] = title
	}
	for _, word := range words {
		switch v := entity[word].(type) {
		case nil:
			if _, given := entity[word]; given {
				p["saved:"+word] = nil
			}
		case string:
			p["saved:"+word] = v
		case int64, float64, bool, json.Number:
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			p["saved:"+word] = string(raw)
		default:
			return nil, fault.Invalid.Errorf("%s: must be a string", word).In(word)
		}
	}
	// The document has the provider by the platform's name, too, by which its front end finds the form of the search.
	if provider, given := p["saved:pageProviderName"]; given {
		p["saved:providerName"] = provider
	}
	// These are a list and an object, kept as JSON text.
	for _, word := range []string{"queryParams", "params"} {
		v, given := entity[word]
		if !given {
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		p["saved:"+word] = string(raw)
	}
	return p, nil
}

// listsOf names those parameters of a page provider that are lists.
type listsOf func(provider string) []string

// entity is a saved search as answers have it.
func (f listsOf) entity(d *storage.Doc) map[string]any {
	out := map[string]any{"entity-type": "savedSearch", "id": d.ID(), "title": d.Title()}
	for _, word := range words {
		out[word], _ = d.Get("saved:" + word)
	}
	out["queryParams"], out["params"] = value(d, "queryParams"), f.params(d)
	return out
}

// params are the named parameters. Lists that nobody filled in are empty, as those of documents are: the platform's front end
// expects them. An empty list sets no condition.
func (f listsOf) params(d *storage.Doc) any {
	v := value(d, "params")
	if f == nil {
		return v
	}
	lists := f(text(d, "pageProviderName"))
	if len(lists) == 0 {
		return v
	}
	params, _ := v.(map[string]any)
	if params == nil {
		params = map[string]any{}
	}
	for _, name := range lists {
		if params[name] == nil {
			params[name] = []any{}
		}
	}
	return params
}

// value reads a member that is kept as JSON.
func value(d *storage.Doc, word string) any {
	var v any
	if raw := text(d, word); raw != "" {
		_ = json.Unmarshal([]byte(raw), &v) // written by props
	}
	return v
}

func text(d *storage.Doc, word string) string { return storage.Prop[string](d, "saved:"+word) }
