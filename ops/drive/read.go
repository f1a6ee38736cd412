package drive

import (
	"catena/engine"
	"catena/storage"
)

var getTop = engine.Op{
	Name: "PlatformDrive.GetTopLevelFolder", Aliases: former("GetTopLevelFolder"),
	Label:    "Get the top level folder",
	Category: services,
	Doc:      "Returns the folder that all folders are in which the caller synchronizes, as JSON.",
	Effect:   engine.Reads,
	Run:      engine.On(noParams.top),
}

var getRoots = engine.Op{
	Name: "PlatformDrive.GetRoots", Aliases: former("GetRoots"),
	Label:    "Get Roots",
	Category: services,
	Doc:      "Returns the folders and collections that the caller synchronizes, by title: those that can be read and are not in the trash.",
	Effect:   engine.Reads,
	Run:      engine.On(noParams.roots),
}

type noParams struct{}

func (noParams) top(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	return answer(v.Top(), nil)
}

func (noParams) roots(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	return v.Roots(), nil
}

var getItem = engine.Op{
	Name: "PlatformDrive.GetFileSystemItem", Aliases: former("GetFileSystemItem"),
	Label:    "Get file system item",
	Category: services,
	Doc:      "Returns a file or folder that the caller synchronizes, as JSON; null if it is not there.",
	Effect:   engine.Reads,
	Run:      engine.On(itemParams.get),
}

var exists = engine.Op{
	Name: "PlatformDrive.FileSystemItemExists", Aliases: former("FileSystemItemExists"),
	Label:    "File system item exists",
	Category: services,
	Doc:      "Returns whether the caller synchronizes a file or folder, as JSON.",
	Effect:   engine.Reads,
	Run:      engine.On(idParams.exists),
}

var getChildren = engine.Op{
	Name: "PlatformDrive.GetChildren", Aliases: former("GetChildren"),
	Label:    "Get children",
	Category: services,
	Doc:      "Returns what is in a folder, as a JSON list: at most as many as a page may have.",
	Effect:   engine.Reads,
	Run:      engine.On(idParams.children),
}

type itemParams struct {
	ID     string `json:"id" doc:"Id of the file or folder."`
	Parent string `json:"parentId,omitzero" doc:"Id of the folder it is in; accepted, it is known."`
}

func (p itemParams) get(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	return answer(v.Find(p.ID))
}

type idParams struct {
	ID string `json:"id" doc:"Id of the file or folder."`
}

func (p idParams) exists(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	it, err := v.Find(p.ID)
	return answer(it != nil, err)
}

func (p idParams) children(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	it, err := engine.Named(v.NeedFolder(p.ID))
	if err != nil {
		return nil, err
	}
	return answer(v.Children(it))
}

var scroll = engine.Op{
	Name: "PlatformDrive.ScrollDescendants", Aliases: former("ScrollDescendants"),
	Label:    "Scroll descendants",
	Category: services,
	Doc: "Returns some of what is in a folder and in the folders there, each behind the folder it is in, as JSON: fileSystemItems, and scrollId for the " +
		"next call. There is no more once none come. Nothing is kept between calls: a scroll does not end by itself, and what moves meanwhile is told by GetChangeSummary.",
	Effect: engine.Reads,
	Run:    engine.On(scrollParams.run),
}

type scrollParams struct {
	ID        string `json:"id" doc:"Id of the folder."`
	Scroll    string `json:"scrollId,omitzero" doc:"What the call before returned; nothing in the first one."`
	BatchSize int    `json:"batchSize" type:"int" doc:"Most items; at most as many as a page may have."`
	KeepAlive int64  `json:"keepAlive" default:"60000" doc:"Accepted; nothing is kept."`
}

func (p scrollParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	it, err := engine.Named(v.NeedFolder(p.ID))
	if err != nil {
		return nil, err
	}
	items, next, err := v.Scroll(it, p.Scroll, p.BatchSize)
	return answer(map[string]any{"scrollId": next, "fileSystemItems": items}, err)
}

var getChanges = engine.Op{
	Name: "PlatformDrive.GetChangeSummary", Aliases: former("GetChangeSummary"),
	Label:    "Get change summary",
	Category: services,
	Doc: "Returns what has changed in what the caller synchronizes since a number that an earlier call returned as upperBound, as JSON, the latest first: " +
		"fileSystemChanges, each with the item as it is now, or without one if it is gone or the caller may no longer read it; activeSynchronizationRootDefinitions; " +
		"hasTooManyChanges if everything is to be read again, which is so too after the caller's groups have changed.",
	Effect: engine.Reads,
	Run:    engine.On(changesParams.run),
}

type changesParams struct {
	Roots *string `json:"lastSyncActiveRootDefinitions,omitzero" type:"string" doc:"What the call before returned as activeSynchronizationRootDefinitions."`
	Lower int64   `json:"lowerBound" default:"-1" values:"-1" doc:"What the call before returned as upperBound; -1 for no changes, only the number to begin with."`
}

func (p changesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := Open(c.Tx)
	if err != nil {
		return nil, err
	}
	return answer(v.Changes(p.Lower, p.Roots))
}
