package directory

import (
	"fmt"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var deleteEntries = engine.Op{
	Name:     "Directory.DeleteEntries",
	Label:    "Deletes directory entries",
	Category: category,
	Doc:      "Removes entries of a directory, or marks them as obsolete, and returns the given ids as a JSON array. Unknown ids are ignored. For administrators and power users.",
	Callers:  engine.Anyone,
	Run:      engine.On(deleteEntriesParams.run),
}

type deleteEntriesParams struct {
	Directory string `json:"directoryName" doc:"Name of the directory."`
	Entries   string `json:"entries" doc:"JSON array of ids."`
	Obsolete  bool   `json:"markObsolete" default:"false" doc:"Only mark them as obsolete, if the directory has a field for that."`
}

func (p deleteEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := manager(c, p.Directory)
	if err != nil {
		return nil, err
	}
	ids, err := objects[any](p.Entries)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if p.Obsolete && d.Schema.Field("obsolete") != nil {
			_, err = d.Update(fmt.Sprint(id), map[string]any{"obsolete": int64(1)})
		} else {
			err = d.Delete(fmt.Sprint(id))
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	return jsonBlob(ids)
}
