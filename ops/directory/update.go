package directory

import (
	"fmt"

	"catena/engine"
	"catena/storage/directory/record"
	"catena/storage/fault"
)

var update = engine.Op{
	Name:     "Directory.Update",
	Label:    "Update Directory Entry",
	Category: category,
	Doc:      "Changes the given properties of a directory's entry and returns it. The entry must contain its id, which cannot be changed.",
	Callers:  engine.Anyone,
	Run:      engine.On(updateParams.run),
}

type updateParams struct {
	Directory string         `json:"directory" doc:"Name of the directory."`
	ID        string         `json:"id,omitzero" doc:"Id of the entry; by default the one in the entry."`
	Entry     map[string]any `json:"entry" type:"object" doc:"The entry, with the changed fields as properties."`
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (*record.Entry, error) {
	d, err := record.In(c.Tx, p.Directory)
	if err != nil {
		return nil, err
	}
	values, err := given(d, p.Entry)
	if err != nil {
		return nil, err
	}
	own := ""
	if v := values[d.ID.Name]; v != nil {
		own = fmt.Sprint(v)
	}
	// The platform wants the entry to say which one it is, also where the address does.
	if own == "" {
		return nil, fault.Invalid.Errorf("directory %s: the entry has neither id nor a value for %s", d.Name, d.ID.Name).In("entry")
	}
	if p.ID == "" {
		p.ID = own
	}
	ignored(c, d, values)
	// Update refuses it without looking for the entry, so those who may not write do not learn
	// which entries exist.
	if !d.Writable() {
		return d.Update(p.ID, values)
	}
	e, err := find(d, p.ID)
	if err != nil {
		return nil, err
	}
	if own != e.ID {
		return nil, fault.Invalid.Errorf("directory %s: entry %s cannot be renamed to %s", d.Name, e.ID, own).In("entry")
	}
	return d.Update(e.ID, values)
}
