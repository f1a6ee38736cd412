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
	Doc: "Puts the file on a document that the caller synchronizes and returns that as JSON. What it was is kept as a minor version first if " +
		"nobody has changed it for an hour, or somebody else has changed it last.",
	Run: engine.On(itemParams.update),
}

func (p itemParams) update(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	v, it, err := need(c, p.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case it.Content == nil:
		return nil, fault.Invalid.Errorf("file system item %s: is no file", p.ID).In("id")
	case !it.CanUpdate:
		return nil, refused(it, "updated")
	}
	d, err := Update(c.Tx, it.Doc, b)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}

var rename = engine.Op{
	Name: "PlatformDrive.Rename", Aliases: former("Rename"),
	Label:    "Rename",
	Category: services,
	Doc:      "Gives a file or folder that the caller synchronizes another name and returns it as JSON. The path of the document stays.",
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
	Run:      engine.On(moveParams.run),
}

var canMove = engine.Op{
	Name: "PlatformDrive.CanMove", Aliases: former("CanMove"),
	Label:    "Can move",
	Category: services,
	Doc:      "Returns whether the caller may move a file or folder into another folder, as JSON.",
	Effect:   engine.Reads,
	Run:      engine.On(moveParams.can),
}

type moveParams struct {
	Source string `json:"srcId" doc:"Id of the file or folder."`
	Dest   string `json:"destId" doc:"Id of the folder it is moved into."`
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
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}

func (p moveParams) can(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
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
	within := it != nil && in != nil && strings.HasPrefix(in.Path+"/", it.Path+"/")
	return answer(it != nil && in != nil && it.Movable() && in.Folder && in.CanCreateChild && !within, nil)
}

var deleteItem = engine.Op{
	Name: "PlatformDrive.Delete", Aliases: former("Delete"),
	Label:    "Delete",
	Category: services,
	Doc: "Puts a file or folder that the caller synchronizes into the trash and keeps the input. A folder that was chosen is no longer " +
		"synchronized instead, and what is in a collection is taken out of it.",
	Run: engine.On(itemParams.remove),
}

func (p itemParams) remove(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	v, it, err := need(c, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	switch in := p.Parent; {
	case it.ID == TopID:
		return engine.Void{}, refused(it, "deleted")
	case it.ParentID == TopID:
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
	Doc:      "Puts the file on a document as its main one and returns the file. It is how a document is saved that was opened for editing. A document that has no main file refuses it.",
	Run:      engine.On(attachParams.run),
}

type attachParams struct {
	Document   storage.Ref `json:"document" doc:"The document: a path or an id."`
	Versioning bool        `json:"applyVersioningPolicy" default:"false" values:"false" doc:"Accepted, without effect."`
	Factory    string      `json:"factoryName" default:"defaultFileSystemItemFactory" values:"defaultFileSystemItemFactory" doc:"Accepted, without effect."`
}

func (p attachParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	d, err := engine.Named(c.Tx.Doc(p.Document))
	if err != nil {
		return nil, err
	}
	_, err = Update(c.Tx, d, b)
	return b, err
}
