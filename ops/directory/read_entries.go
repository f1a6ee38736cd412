package directory

import (
	"fmt"

	"catena/engine"
	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

var readEntries = engine.Op{
	Name:     "Directory.ReadEntries",
	Label:    "Reads directory entries",
	Category: category,
	Doc:      "Returns entries of a directory, as a JSON array of objects with all fields. Unknown ids are left out.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(readEntriesParams.run),
}

type readEntriesParams struct {
	Directory string `json:"directoryName" doc:"Name of the directory."`
	Entries   string `json:"entries" doc:"JSON array of ids."`
	Lang      string `json:"lang,omitzero" doc:"Language of translated labels; by default that of the context variable lang, or English."`
	Translate bool   `json:"translateLabels" default:"false" doc:"Replace label keys by their texts."`
}

func (p readEntriesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	ids, err := objects[any](p.Entries)
	if err != nil {
		return nil, err
	}
	var found []*record.Entry
	for _, id := range ids {
		// Of a directory that the caller may not read no entry is found, so the answer is empty, as
		// in the platform.
		e, err := d.Entry(fmt.Sprint(id))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, e)
	}
	return blobOf(c, found, p.Translate, p.Lang)
}
