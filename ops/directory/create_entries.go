package directory

import (
	"catena/engine"
	"catena/storage"
)

var createEntries = engine.Op{
	Name:     "Directory.CreateEntries",
	Label:    "Creates directory entries",
	Category: category,
	Doc:      "Adds entries to a directory and returns their ids, as a JSON array. For administrators and power users.",
	Callers:  engine.Anyone,
	Run:      engine.On(createEntriesParams.run),
}

type createEntriesParams struct {
	Directory string `json:"directoryName" doc:"Name of the directory."`
	Entries   string `json:"entries" doc:"JSON array of objects with the fields of the entries."`
}

func (p createEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := manager(c, p.Directory)
	if err != nil {
		return nil, err
	}
	list, err := objects[map[string]any](p.Entries)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	// All entries or none: the first that is refused fails the call, and its transaction is undone.
	for i, values := range list {
		e, err := d.Create(values)
		if err != nil {
			return nil, err
		}
		ids[i] = e.ID
	}
	return jsonBlob(ids)
}
