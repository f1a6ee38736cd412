package drive

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

var setSynchronization = engine.Op{
	Name: "PlatformDrive.SetSynchronization", Aliases: former("SetSynchronization"),
	Label:    "Register / Unregister Synchronization Root",
	Category: services,
	Doc: "Starts or stops synchronizing a folder or collection with the caller's computers. Nothing changes for a folder inside a synchronized one; " +
		"synchronized folders inside the new one become part of it.",
	Callers: engine.Anyone,
	Run:     engine.On(synchronizeParams.run).As("document", "void"),
}

type synchronizeParams struct {
	Enable bool `json:"enable" doc:"Whether to synchronize it."`
}

func (p synchronizeParams) run(c *engine.Ctx, d *storage.Doc) (any, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	if p.Enable {
		return nil, v.Register(d)
	}
	return nil, v.Unregister(d)
}

var addToLocallyEdited = engine.Op{
	Name: "PlatformDrive.AddToLocallyEditedCollection", Aliases: former("AddToLocallyEditedCollection"),
	Label:    "Add document to the 'Locally Edited' collection",
	Category: services,
	Doc:      "Adds a document to the caller's collection Locally Edited, which is created and synchronized on first use, and returns the document.",
	Callers:  engine.Anyone,
	Run:      engine.On(editedParams.run),
}

type editedParams struct{}

const locallyEdited = "Locally Edited"

func (editedParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	list, err := edited(c)
	if err != nil {
		return nil, err
	}
	out, err := c.Call("Document.AddToCollection", d, map[string]any{"collection": list.ID()})
	if err != nil {
		return nil, err
	}
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	added, _ := out.(*storage.Doc)
	return added, v.Register(list)
}

// edited is the collection of the caller's. It is found by its name in the personal workspace, which
// changing its title leaves alone: the name in the path stays.
func edited(c *engine.Ctx) (*storage.Doc, error) {
	home, err := people.Home(c.Tx, true)
	if err != nil {
		return nil, err
	}
	folder, err := c.Tx.Child(home, "Collections")
	if err == nil {
		list, err := c.Tx.Child(folder, locallyEdited)
		if !fault.Is(err, fault.NotFound) {
			return list, err
		}
	} else if !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	out, err := c.Call("Collection.Create", nil, map[string]any{"name": locallyEdited, "description": "Documents edited on a computer"})
	list, _ := out.(*storage.Doc)
	return list, err
}
