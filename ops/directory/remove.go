package directory

import (
	"catena/engine"
	"catena/storage/directory/record"
)

var remove = engine.Op{
	Name:     "Directory.Delete",
	Label:    "Delete Directory Entry",
	Category: category,
	Doc:      "Removes an entry of a directory and returns the input. It fails if the entry is the parent of others.",
	Callers:  engine.Anyone,
	Run:      engine.On(removeParams.run),
}

type removeParams struct {
	Directory string `json:"directory" doc:"Name of the directory."`
	ID        string `json:"id" doc:"Id of the entry."`
}

func (p removeParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil || !d.Writable() {
		// Delete refuses it without looking for the entry, so those who may not write do not learn
		// which entries exist.
		if err == nil {
			err = d.Delete(p.ID)
		}
		return engine.Void{}, err
	}
	e, err := find(d, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, d.Delete(e.ID)
}
