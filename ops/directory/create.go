package directory

import (
	"catena/engine"
	"catena/storage/directory/record"
)

var create = engine.Op{
	Name:     "Directory.Create",
	Label:    "Create Directory Entry",
	Category: category,
	Doc:      "Adds an entry to a directory and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.On(createParams.run),
}

type createParams struct {
	Directory string         `json:"directory" doc:"Name of the directory."`
	Entry     map[string]any `json:"entry" type:"object" doc:"The entry, with its fields as properties."`
}

func (p createParams) run(c *engine.Ctx, _ engine.Void) (*record.Entry, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	values, err := given(d, p.Entry)
	if err != nil {
		return nil, err
	}
	// Storage checks who may write to the directory, and refuses an id that exists.
	ignored(c, d, values)
	return d.Create(values)
}
