package repository

import (
	"catena/engine"
	"catena/engine/openapi"
)

var repositories = engine.Op{
	Name:       "GetRepositories",
	Deprecated: engine.Deprecation{Since: "2026-11-23"},
	Label:      "List repository names on the server",
	Category:   "Fetch",
	Doc:        "Returns the sorted names of the repositories.",
	Effect:     engine.Reads,
	Callers:    engine.Anyone,
	Result:     openapi.List(openapi.Type("string")),
	Run:        engine.On(repositoriesParams.run),
}

type repositoriesParams struct{}

func (repositoriesParams) run(c *engine.Ctx, _ engine.Void) ([]any, error) {
	names := []any{}
	// Names are not secret: each is in the addresses of its documents. What a repository holds is
	// for its own permissions.
	for _, name := range c.Tx.Repo().Names() {
		names = append(names, name)
	}
	return names, nil
}
