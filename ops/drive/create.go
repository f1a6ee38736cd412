package drive

import (
	"catena/engine"
	"catena/storage"
)

var createFolder = engine.Op{
	Name: "PlatformDrive.CreateFolder", Aliases: former("CreateFolder"),
	Label:    "Create folder",
	Category: services,
	Doc:      "Creates a folder in a folder that the caller synchronizes and returns it as JSON.",
	Callers:  engine.Anyone,
	Run:      engine.On(createFolderParams.run),
}

type createFolderParams struct {
	Parent    string `json:"parentId" doc:"Id of the parent folder."`
	Name      string `json:"name" doc:"Name of the folder."`
	Overwrite bool   `json:"overwrite" default:"false" doc:"Return the existing folder with this name, if there is one."`
}

func (p createFolderParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, in, err := needIn(c, p.Parent)
	if err != nil {
		return nil, err
	}
	// Called by name, because families do not import each other; so folders are the same whichever
	// way they are made.
	out, err := c.Call("FileManager.CreateFolder", in.Doc, map[string]any{"title": p.Name, "overwrite": p.Overwrite})
	if err != nil {
		return nil, err
	}
	d, _ := out.(*storage.Doc)
	return shown(v, d)
}

var createFile = engine.Op{
	Name: "PlatformDrive.CreateFile", Aliases: former("CreateFile"),
	Label:    "Create file",
	Category: services,
	Doc: "Creates a document from the file in a folder that the caller synchronizes and returns it as JSON. Its type is chosen as by FileManager.Import, " +
		"except that a text which a Note would not preserve exactly becomes a File.",
	Callers: engine.Anyone,
	Run:     engine.On(createFileParams.run),
}

type createFileParams struct {
	Parent    string `json:"parentId" doc:"Id of the parent folder."`
	Overwrite bool   `json:"overwrite" default:"false" doc:"Replace the file of a document with the same title or file name, if the folder has one."`
}

func (p createFileParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	v, in, err := needIn(c, p.Parent)
	if err != nil {
		return nil, err
	}
	d, err := Create(c, in.Doc, b, p.Overwrite)
	if err != nil {
		return nil, err
	}
	return shown(v, d)
}
