// Package drive holds the operations of the desktop synchronizer, a program that keeps a copy of some folders
// on a computer: which folders these are, their files and folders, changes to them, and what has changed
// since the last synchronization. What is shown to whom is for a View to say; the answers are JSON, as the
// program reads it.
//
// The synchronizer asks for the changes since the number it has seen last. These come from the feed of the
// repository (storage.ReadFeed), filtered by the roots that the user has chosen and by what the user may
// read. A change that moves a document out of sight, because of a permission or of a folder that is no longer
// synchronized, has to be reported as a deletion. When that cannot be decided from the feed, or too much has
// changed, the answer tells the program to read everything again.
//
// Read item.go first: it says which document is an item, under which id, and where. The id names the kind of
// item, the repository and the document, so it changes when a folder becomes a root. find.go walks from ids
// to items and through folders, file.go is what happens to a document when the program sends a file. The
// names and shapes in answers are fixed: the program is not ours.
package drive

import (
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Config is what the operations know of the server.
type Config struct {
	Version string // that clients compare
	Tests   bool   // it is there for tests of the synchronizer
}

// Ops returns the operations of a server.
func Ops(c Config) []engine.Op {
	tests := c.Tests
	return []engine.Op{
		addToLocallyEdited,
		attachBlob,
		canMove,
		createFile,
		createFolder,
		createTestDocuments(tests),
		deleteItem,
		exists,
		generateConflictedName,
		getChanges,
		getChildren,
		getItem,
		getRoots,
		getTop,
		getUpdateInfo(c.Version),
		move,
		rename,
		scroll,
		setActiveFactories(tests),
		setSynchronization,
		setUpTests(tests),
		setVersioning(tests),
		tearDownTests(tests),
		updateFile,
		waitForAsync(tests),
		waitForAudit(tests),
	}
}

const services = "Services"

// former are the other names of an operation. Installed programs call the operations by the platform's
// names. The names of both must never change.
func former(verb string) []string { return []string{"NuxeoDrive." + verb} }

// answer is a value as a file of JSON.
func answer(v any, err error) (*storage.Blob, error) {
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("drive.json", "application/json", data), nil
}

// need returns an item that has to be there. It opens a view for each call, since a view is valid in its
// transaction only and remembers what it has looked up.
func need(c *engine.Ctx, id string) (*View, *Item, error) {
	v, err := open(c)
	if err != nil {
		return nil, nil, err
	}
	it, err := engine.Named(v.Need(id))
	return v, it, err
}

// needIn returns a folder in which the caller may create something.
func needIn(c *engine.Ctx, id string) (*View, *Item, error) {
	v, it, err := need(c, id)
	switch {
	case err != nil:
		return nil, nil, err
	case !it.Folder:
		return nil, nil, fault.Invalid.Errorf("file system item %s: is not a folder", id)
	case !it.CanCreateChild:
		return nil, nil, fault.Denied.Errorf("file system item %s: nothing can be created in it", id)
	}
	return v, it, nil
}

// refused is the error of a change that an item does not let the caller make.
func refused(it *Item, what string) error {
	return fault.Denied.Errorf("file system item %s: cannot be %s", it.ID, what)
}

// shown is a document as the item it is now. The caller may have changed something by which the document
// has left the view: that must not look like success.
func shown(v *View, d *storage.Doc) (*storage.Blob, error) {
	it, err := v.Item(d)
	if err == nil && it == nil {
		err = fault.Conflict.Errorf("document %s: is no longer visible", d.ID())
	}
	return answer(it, err)
}
