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
	// An id may be a number in the JSON array; entries are found by its text.
	for _, id := range ids {
		// A directory without the field deletes the entry, as in the platform. An obsolete entry
		// can no longer be chosen, but documents that refer to it still show its label.
		if p.Obsolete && d.Schema.Field("obsolete") != nil {
			_, err = d.Update(fmt.Sprint(id), map[string]any{"obsolete": int64(1)})
		} else {
			err = d.Delete(fmt.Sprint(id))
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return nil, err
		}
	}
	// All ids that were given, unknown ones too, as in the platform.
	return jsonBlob(ids)
}
