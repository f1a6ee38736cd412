package blob

import (
	"maps"

	"catena/engine"
	"catena/storage"
	"catena/storage/importer"
)

var createFolder = engine.Op{
	Name:     "FileManager.CreateFolder",
	Label:    "Create Folder",
	Category: "Services",
	Doc:      "Creates a folder with a title in the input folder and returns it.",
	Callers:  engine.Anyone,
	Run:      engine.On(createFolderParams.run),
}

type createFolderParams struct {
	Title      string        `json:"title" doc:"Title of the folder."`
	Overwrite  bool          `json:"overwrite" default:"false" doc:"Return the existing folder with this title, if there is one."`
	Properties storage.Props `json:"properties,omitzero" names:"xpath" doc:"Initial properties by xpath."`
}

func (p createFolderParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	// The map belongs to the caller, who may use it for the next folder of a list.
	props := storage.Props{}
	maps.Copy(props, p.Properties)
	props["dc:title"] = p.Title
	if p.Overwrite {
		old, err := importer.Find(c.Tx, folder, "Folder", p.Title)
		if err != nil {
			return nil, err
		}
		if old != nil {
			return replace(c, old, props)
		}
	}
	return c.Tx.Create(folder, "Folder", c.Tx.Repo().NameOf(p.Title), props)
}
