package webui

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/uisession"
)

var addToClipboard = engine.Op{
	Name:     "WebUI.AddToClipboard",
	Aliases:  []string{"Seam.AddToClipboard"},
	Label:    "Push to Clipboard",
	Category: interfaces,
	Requires: needs,
	Doc:      "Adds the documents to the caller's clipboard, which all sessions share, and returns them.",
	Callers:  engine.Anyone,
	Run:      adding(clipboard),
}

var addToWorklist = engine.Op{
	Name:     "WebUI.AddToWorklist",
	Aliases:  []string{"Seam.AddToWorklist"},
	Label:    "Push to Worklist",
	Category: interfaces,
	Requires: needs,
	Doc:      "Adds the documents to the caller's worklist and returns them. Does not require a session.",
	Callers:  engine.Anyone,
	Run:      adding(worklist),
}

var clearClipboard = engine.Op{
	Name:     "WebUI.ClearClipboard",
	Aliases:  []string{"Seam.ClearClipboard"},
	Label:    "Clear Clipboard",
	Category: interfaces,
	Requires: needs,
	Doc:      "Empties the caller's clipboard and returns the input.",
	Callers:  engine.Anyone,
	Run:      clearing(clipboard),
}

var clearSelection = engine.Op{
	Name:     "WebUI.ClearSelectedDocuments",
	Aliases:  []string{"Seam.ClearSelectedDocuments"},
	Label:    "Clear Selected Documents",
	Category: interfaces,
	Requires: needs,
	Doc:      "Empties the list of documents that the caller has selected, and returns the input.",
	Callers:  engine.Anyone,
	Run:      clearing(selection),
}

var clearWorklist = engine.Op{
	Name:     "WebUI.ClearWorklist",
	Aliases:  []string{"Seam.ClearWorklist"},
	Label:    "Clear Worklist",
	Category: interfaces,
	Requires: needs,
	Doc:      "Empties the caller's worklist and returns the input. Does not require a session.",
	Callers:  engine.Anyone,
	Run:      clearing(worklist),
}

var fetchFromClipboard = engine.Op{
	Name:     "Seam.FetchFromClipboard",
	Label:    "UI Clipboard",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the documents on the caller's clipboard. Documents that were deleted or that the caller can no longer read are omitted.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      fetching(clipboard),
}

var fetchFromWorklist = engine.Op{
	Name:     "Seam.FetchFromWorklist",
	Label:    "UI Worklist",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the documents on the caller's worklist. Documents that were deleted or that the caller can no longer read are omitted. Does not require a session.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      fetching(worklist),
}

var getSelected = engine.Op{
	Name:     "Seam.GetSelectedDocuments",
	Label:    "UI Selected documents",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the documents that the caller has selected. Documents that were deleted or that the caller can no longer read are omitted.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      fetching(selection),
}

var getFromList = engine.Op{
	Name:     "Seam.GetDocumentsFromSelectionList",
	Label:    "UI Selected documents from list",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the documents in a list of the caller's. Documents that were deleted or that the caller can no longer read are omitted.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(listParams.run),
}

type listParams struct {
	Name string `json:"listName,omitzero" doc:"Name of the list: CLIPBOARD, DEFAULT (the worklist), or another one; by default CURRENT_SELECTION."`
}

// A list that was never filled is empty, whatever its name. Even the worklist needs a session when
// it is named here.
func (p listParams) run(c *engine.Ctx, _ engine.Void) (storage.Docs, error) {
	l := selection
	if p.Name != "" {
		l.name = p.Name
	}
	return l.fetch(c)
}

// listed is a list of the caller's; free says that it is there without a session.
type listed struct {
	name string
	free bool
}

var (
	clipboard = listed{name: uisession.Clipboard}
	selection = listed{name: uisession.Selection}
	worklist  = listed{name: uisession.Worklist, free: true}
)

// open checks that the call has a session if the list needs one.
func (l listed) open(c *engine.Ctx) error {
	if l.free {
		return nil
	}
	_, err := session(c)
	return err
}

func (l listed) fetch(c *engine.Ctx) (storage.Docs, error) {
	if err := l.open(c); err != nil {
		return nil, err
	}
	return uisession.Listed(c.Tx, l.name)
}

// adding is what puts documents in a list.
// The size of a list is bounded in storage (limit-ui-list, 1,000 documents by default). Adding a
// document twice leaves it where it was.
func adding(l listed) engine.Func {
	add := func(c *engine.Ctx, docs ...*storage.Doc) error {
		if err := l.open(c); err != nil {
			return err
		}
		return uisession.Add(c.Tx, l.name, docs...)
	}
	return engine.Overload(
		engine.On(func(_ engine.Void, c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) { return d, add(c, d) }),
		engine.On(func(_ engine.Void, c *engine.Ctx, docs storage.Docs) (storage.Docs, error) {
			return docs, add(c, docs...)
		}),
	)
}

// clearing is what empties a list.
func clearing(l listed) engine.Func {
	return engine.On(func(_ engine.Void, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
		if err := l.open(c); err != nil {
			return engine.Void{}, err
		}
		// Setting no documents removes the list.
		return engine.Void{}, uisession.Set(c.Tx, l.name)
	})
}

// fetching is what returns the documents in a list.
func fetching(l listed) engine.Func {
	return engine.On(func(_ engine.Void, c *engine.Ctx, _ engine.Void) (storage.Docs, error) { return l.fetch(c) })
}
