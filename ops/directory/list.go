package directory

import (
	"slices"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/directory"
	"catena/storage/directory/record"
)

var list = engine.Op{
	Name:     "Directory.List",
	Label:    "Directories",
	Category: category,
	Doc:      "Returns all directories, without system directories unless types are given.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Directories"),
	Run:      engine.On(listParams.run),
}

type listParams struct {
	Types []string `json:"types,omitzero" doc:"Only directories of one of these types."`
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	found := []any{}
	for _, d := range record.Registry(c.Tx).Directories() {
		if p.wants(d) {
			found = append(found, map[string]any{
				"entity-type": "directory", "name": d.Name, "schema": d.Schema.Name, "idField": d.ID.Name, "parent": engine.OrNull(d.Parent),
			})
		}
	}
	return map[string]any{"entity-type": "directories", "entries": found}, nil
}

// System directories, of users or tokens for example, are shown only when their type is named. That
// does not make their entries readable.
func (p listParams) wants(d *directory.Directory) bool {
	if len(p.Types) == 0 {
		return !d.System()
	}
	return slices.ContainsFunc(p.Types, func(t string) bool { return slices.Contains(d.Types, t) })
}
