package directory

import (
	"fmt"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var updateEntries = engine.Op{
	Name:     "Directory.UpdateEntries",
	Label:    "Updates directory entries",
	Category: category,
	Doc:      "Changes entries of a directory and returns the ids of those changed, as a JSON array. Entries without an id and unknown entries are ignored. For administrators and power users.",
	Callers:  engine.Anyone,
	Run:      engine.On(updateEntriesParams.run),
}

type updateEntriesParams struct {
	Directory string `json:"directoryName" doc:"Name of the directory."`
	Entries   string `json:"entries" doc:"JSON array of objects with the id and the changed fields."`
}

func (p updateEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := manager(c, p.Directory)
	if err != nil {
		return nil, err
	}
	list, err := objects[map[string]any](p.Entries)
	if err != nil {
		return nil, err
	}
	ids := []string{}
	for _, values := range list {
		id := values[d.ID.Name]
		if id == nil {
			continue
		}
		// The id among the values is not a change: entries cannot be renamed. Fields that are not
		// given stay.
		e, err := d.Update(fmt.Sprint(id), values)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, e.ID)
	}
	return jsonBlob(ids)
}
