package repository

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/engine/openapi"
)

func readProvider(ps providers) engine.Op {
	return engine.Op{
		Name:      "Repository.ReadPageProvider",
		Label:     "Page Provider",
		Category:  "Fetch",
		Doc:       "Returns the declaration of a page provider.",
		Effect:    engine.Pure,
		Callers:   engine.Anyone,
		Constants: map[string]func(string) error{"providerName": ps.known},
		Result:    openapi.Ref("PageProvider"),
		Run: engine.On(func(p readProviderParams, _ *engine.Ctx, _ engine.Void) (map[string]any, error) {
			return p.run(ps)
		}),
	}
}

type readProviderParams struct {
	Provider string `json:"providerName" doc:"Name of the page provider."`
}

func (p readProviderParams) run(ps providers) (map[string]any, error) {
	found, err := ps.find(p.Provider)
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"name":         found.Name,
		"pageSize":     found.PageSize,
		"sort":         list(found.Sort),
		"fields":       list(slices.Sorted(maps.Keys(found.Fields))),
		"quickFilters": list(slices.Sorted(maps.Keys(found.Quick))),
	}
	// The query of a free provider is the caller's, so there is none to show.
	if !found.Free {
		out["query"] = found.source(found.Select, nil)
	}
	return out, nil
}

func list(words []string) []any {
	all := make([]any, len(words))
	for i, w := range words {
		all[i] = w
	}
	return all
}
