package drive

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var updateFile = engine.Op{
	Name: "PlatformDrive.UpdateFile", Aliases: former("UpdateFile"),
	Label:    "Update file",
	Category: services,
	Doc: "Replaces the file of a document that the caller synchronizes and returns it as JSON. The old state is first kept as a minor version if " +
		"nobody has changed it for an hour, if the last change was made by another user, or unless the header X-Device-Id names the computer " +
		"that put the old file there.",
	Callers: engine.Anyone,
	Run:     engine.On(itemParams.update),
}

func (p itemParams) update(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	v, it, err := need(c, p.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case it.Content == nil:
		return nil, fault.Invalid.Errorf("file system item %s: is not a file", p.ID).In("id")
	// What an item allows is also checked by storage when the document is saved. This check is for
	// the message, which names the item and not the document behind it.
	case !it.CanUpdate:
		return nil, refused(it, "updated")
	}
	d, err := Update(c, it.Doc, b)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}

var rename = engine.Op{
	Name: "PlatformDrive.Rename", Aliases: former("Rename"),
	Label:    "Rename",
	Category: services,
	Doc:      "Renames a file or folder that the caller synchronizes and returns it as JSON. The path of the document is unchanged.",
	Callers:  engine.Anyone,
	Run:      engine.On(renameParams.run),
}

type renameParams struct {
	ID   string `json:"id" doc:"Id of the file or folder."`
	Name string `json:"name" doc:"The new name."`
}

func (p renameParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, it, err := need(c, p.ID)
	if err != nil {
		return nil, err
	}
	if !it.CanRename {
		return nil, refused(it, "renamed")
	}
	d, err := Rename(c.Tx, it, p.Name)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}

var move = engine.Op{
	Name: "PlatformDrive.Move", Aliases: former("Move"),
	Label:    "Move",
	Category: services,
	Doc:      "Moves a file or folder that the caller synchronizes into another folder and returns it as JSON.",
	Callers:  engine.Anyone,
	Run:      engine.On(moveParams.run),
}

var canMove = engine.Op{
	Name: "PlatformDrive.CanMove", Aliases: former("CanMove"),
	Label:    "Can move",
	Category: services,
	Doc:      "Returns whether the caller may move a file or folder into another folder, as JSON.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(moveParams.can),
}

type moveParams struct {
	Source string `json:"srcId" doc:"Id of the file or folder."`
	Dest   string `json:"destId" doc:"Id of the destination folder."`
}

func (p moveParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	_, it, err := need(c, p.Source)
	if err != nil {
		return nil, err
	}
	_, in, err := needIn(c, p.Dest)
	if err != nil {
		return nil, err
	}
	if !it.Movable() {
		return nil, refused(it, "moved")
	}
	d, err := c.Tx.Move(it.Doc, in.Doc, "")
	if err != nil {
		return nil, err
	}
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}

func (p moveParams) can(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	it, err := v.Find(p.Source)
	if err != nil {
		return nil, err
	}
	in, err := v.Find(p.Dest)
	if err != nil {
		return nil, err
	}
	// A folder cannot be moved into itself or below itself; paths are lists of ids, so the
	// comparison is exact. Anything that is missing or not allowed gives the answer false and not
	// an error.
	within := it != nil && in != nil && strings.HasPrefix(in.Path+"/", it.Path+"/")
	return answer(it != nil && in != nil && it.Movable() && in.Folder && in.CanCreateChild && !within, nil)
}

var deleteItem = engine.Op{
	Name: "PlatformDrive.Delete", Aliases: former("Delete"),
	Label:    "Delete",
	Category: services,
	Doc: "Moves a file or folder that the caller synchronizes to the trash and returns the input. A synchronization root is no longer " +
		"synchronized instead, and a member of a collection is removed from the collection.",
	Callers: engine.Anyone,
	Run:     engine.On(removeParams.run),
}

type removeParams struct {
	ID     string `json:"id" doc:"Id of the file or folder."`
	Parent string `json:"parentId,omitzero" doc:"Id of the folder that it was deleted from, if it is in several collections."`
}

func (p removeParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	v, it, err := need(c, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	// An item that is in several collections is shown in one of them. The program says with
	// parentId which folder on disk the user deleted it from; without it, the folder that is shown
	// counts.
	switch in := p.Parent; {
	case it.Doc == nil:
		return engine.Void{}, refused(it, "deleted")
	// Deleting a root on one computer must not delete the folder on the server for everybody: it
	// only ends the synchronization, for all computers of this user.
	case it.root:
		return engine.Void{}, v.Unregister(it.Doc)
	case IsCollection(it.ParentID) || IsCollection(in):
		if in == "" {
			in = it.ParentID
		}
		_, err := c.Call("Collection.RemoveFromCollection", it.Doc, map[string]any{"collection": DocID(in)})
		return engine.Void{}, err
	case !it.CanDelete:
		return engine.Void{}, refused(it, "deleted")
	}
	_, err = c.Tx.SetTrashed(it.Doc, true)
	return engine.Void{}, err
}

var attachBlob = engine.Op{
	Name: "PlatformDrive.AttachBlob", Aliases: former("AttachBlob"),
	Label:    "Attach blob",
	Category: services,
	Doc:      "Replaces the main file of a document and returns the file. Clients use it to save a document that was opened for editing. It fails if the document has no main file.",
	Callers:  engine.Anyone,
	Run:      engine.On(attachParams.run),
}

type attachParams struct {
	Document   storage.Ref `json:"document" doc:"Path or id of the document."`
	Versioning bool        `json:"applyVersioningPolicy" default:"false" values:"false" unused:"true" doc:"Accepted but ignored."`
	Factory    string      `json:"factoryName" default:"defaultFileSystemItemFactory" values:"defaultFileSystemItemFactory" unused:"true" doc:"Accepted but ignored."`
}

func (p attachParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	// The document need not be synchronized: this serves editing of a single document, which
	// storage permits or refuses.
	d, err := engine.Named(c.Tx.Doc(p.Document))
	if err != nil {
		return nil, err
	}
	_, err = Update(c, d, b)
	return b, err
}
