package directory

import (
	"catena/engine"
	"catena/storage/directory/record"
)

var read = engine.Op{
	Name:     "Directory.Read",
	Label:    "Directory Entry",
	Category: category,
	Doc:      "Returns an entry of a directory.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(readParams.run),
}

type readParams struct {
	Directory string `json:"directory" doc:"Name of the directory."`
	ID        string `json:"id" doc:"Id of the entry."`
}

func (p readParams) run(c *engine.Ctx, _ engine.Void) (*record.Entry, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	return find(d, p.ID)
}
