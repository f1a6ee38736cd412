package directory

import (
	"fmt"
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
)

var projection = engine.Op{
	Name:     "Directory.Projection",
	Label:    "Get a Directory Projection",
	Category: category,
	Doc:      "Stores the values of one field of a directory's entries as a list in a context variable, and returns the input.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(projectionParams.run),
}

type projectionParams struct {
	Column    string        `json:"columnName" doc:"The field."`
	Directory string        `json:"directoryName" doc:"Name of the directory."`
	Variable  string        `json:"variableName" names:"variable" doc:"Name of the variable."`
	Filters   storage.Props `json:"filters,omitzero" doc:"Only entries with these values, by field."`
	Fulltext  []string      `json:"fulltextFields,omitzero" doc:"Fields whose values only need to begin with the filter's value."`
}

func (p projectionParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return engine.Void{}, err
	}
	if err := p.check(d); err != nil {
		return engine.Void{}, err
	}
	q := record.Query{Equal: map[string]any{}, Starts: map[string]string{}}
	for name, v := range p.Filters {
		// The platform leaves it to its store what matching as text means. Here a value must begin
		// with the filter's, in upper or lower case.
		if slices.Contains(p.Fulltext, name) {
			q.Starts[name] = fmt.Sprint(v)
			continue
		}
		q.Equal[name] = v
	}
	found, err := all(d, q)
	if err != nil {
		return engine.Void{}, err
	}
	values := make([]any, 0, len(found))
	for _, e := range found {
		values = append(values, e.Values[p.Column])
	}
	return engine.Void{}, setVar(c, p.Variable, values)
}

// check refuses fields that the directory does not have, in the order in which the parameters are shown.
func (p projectionParams) check(d *record.Directory) error {
	if err := hasField(d, "columnName", p.Column); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(p.Filters)) {
		if err := hasField(d, "filters", name); err != nil {
			return err
		}
	}
	for _, name := range p.Fulltext {
		if err := hasField(d, "fulltextFields", name); err != nil {
			return err
		}
	}
	return nil
}
