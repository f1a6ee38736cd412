package drive

import (
	"catena/engine"
	"catena/storage"
)

var getTop = engine.Op{
	Name: "PlatformDrive.GetTopLevelFolder", Aliases: former("GetTopLevelFolder"),
	Label:    "Get the top level folder",
	Category: services,
	Doc:      "Returns the top-level folder that contains all folders that the caller synchronizes, as JSON.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(noParams.top),
}

var getRoots = engine.Op{
	Name: "PlatformDrive.GetRoots", Aliases: former("GetRoots"),
	Label:    "Get Roots",
	Category: services,
	Doc:      "Returns the folders and collections that the caller synchronizes, sorted by title, if the caller may read them and they are not in the trash.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(noParams.roots),
}

type noParams struct{}

func (noParams) top(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	return answer(v.Top(), nil)
}

func (noParams) roots(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	return v.Roots(), nil
}

var getItem = engine.Op{
	Name: "PlatformDrive.GetFileSystemItem", Aliases: former("GetFileSystemItem"),
	Label:    "Get file system item",
	Category: services,
	Doc:      "Returns a file or folder that the caller synchronizes, as JSON; null if it does not exist.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(itemParams.get),
}

var exists = engine.Op{
	Name: "PlatformDrive.FileSystemItemExists", Aliases: former("FileSystemItemExists"),
	Label:    "File system item exists",
	Category: services,
	Doc:      "Returns whether the caller synchronizes a file or folder, as JSON.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(idParams.exists),
}

var getChildren = engine.Op{
	Name: "PlatformDrive.GetChildren", Aliases: former("GetChildren"),
	Label:    "Get children",
	Category: services,
	Doc:      "Returns the children of a folder, as a JSON list, up to the server's page limit.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(idParams.children),
}

type itemParams struct {
	ID     string `json:"id" doc:"Id of the file or folder."`
	Parent string `json:"parentId,omitzero" unused:"true" doc:"Accepted but ignored."`
}

func (p itemParams) get(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	// An item that is nil becomes null, which is how the program learns that it is gone.
	return answer(v.Find(p.ID))
}

type idParams struct {
	ID string `json:"id" doc:"Id of the file or folder."`
}

func (p idParams) exists(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	it, err := v.Find(p.ID)
	return answer(it != nil, err)
}

func (p idParams) children(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
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
	Doc: "Returns a batch of the descendants of a folder, each after its parent, as JSON: fileSystemItems, and scrollId for the " +
		"next call. An empty batch means that there are no more. The server keeps no state between calls: a scroll does not expire, and GetChangeSummary reports items moved meanwhile.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(scrollParams.run),
}

type scrollParams struct {
	ID        string `json:"id" doc:"Id of the folder."`
	Scroll    string `json:"scrollId,omitzero" doc:"The scrollId returned by the previous call; none in the first call."`
	BatchSize int    `json:"batchSize" type:"int" doc:"Maximum number of items, up to the server's page limit."`
	KeepAlive int64  `json:"keepAlive" default:"60000" unused:"true" doc:"Accepted but ignored."`
}

func (p scrollParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
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
	Doc: "Returns the changes to what the caller synchronizes since the upperBound returned by an earlier call, as JSON, latest first: " +
		"fileSystemChanges, each with the current item, or without one if it was deleted or the caller may no longer read it; activeSynchronizationRootDefinitions; " +
		"hasTooManyChanges if the client must read everything again, as it also must after the caller's groups have changed.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(changesParams.run),
}

type changesParams struct {
	Roots *string `json:"lastSyncActiveRootDefinitions,omitzero" type:"string" doc:"The activeSynchronizationRootDefinitions returned by the previous call."`
	Lower int64   `json:"lowerBound" default:"-1" values:"-1" doc:"The upperBound returned by the previous call; -1 returns no changes, only the first upperBound."`
}

func (p changesParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	v, err := open(c)
	if err != nil {
		return nil, err
	}
	return answer(v.Changes(p.Lower, p.Roots))
}
