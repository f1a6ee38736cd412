package webui

import (
	"maps"
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/uisession"
)

// getCurrent returns nothing, rather than an error, for a document that was deleted or that the
// caller can no longer read: a session outlives such changes (see current).
var getCurrent = engine.Op{
	Name:     "Seam.GetCurrentDocument",
	Label:    "UI Current Document",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the current document of the UI session, or nothing.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(currentParams.document),
}

var getDomain = engine.Op{
	Name:     "Seam.GetCurrentDomain",
	Label:    "UI Current Domain",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the domain that the current document of the UI session is in, or nothing.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(currentParams.domain),
}

var getWorkspace = engine.Op{
	Name:     "Seam.GetCurrentWorkspace",
	Label:    "UI Current Workspace",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the current document of the UI session, or its nearest ancestor, that is a workspace, or nothing.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(currentParams.workspace),
}

var getChangeable = engine.Op{
	Name:     "Seam.GetChangeableDocument",
	Label:    "UI Changeable Document",
	Category: fetch,
	Requires: needs,
	Doc: "Returns the document of the open form with the values entered, which are not stored: the document being created, or else the current one. " +
		"Without a form, it returns the current document, or nothing.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.On(currentParams.changeable),
}

type currentParams struct{}

func (currentParams) document(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	return current(c, s)
}

func (p currentParams) domain(c *engine.Ctx, in engine.Void) (*storage.Doc, error) {
	return p.nearest(c, in, "Domain")
}

func (p currentParams) workspace(c *engine.Ctx, in engine.Void) (*storage.Doc, error) {
	return p.nearest(c, in, "Workspace")
}

// nearest returns the current document, or what is nearest above it, of a type.
func (p currentParams) nearest(c *engine.Ctx, in engine.Void, typeName string) (*storage.Doc, error) {
	d, err := p.document(c, in)
	if err != nil || d == nil {
		return nil, err
	}
	// Ancestors that the caller may not read are not among them, so a closed workspace around the
	// document is not found.
	line, err := c.Tx.Ancestors(d)
	if err != nil {
		return nil, err
	}
	// From the document upwards: the nearest one counts, and the document itself may be it.
	for _, at := range slices.Backward(append(line, d)) {
		if at.Type().Name == typeName {
			return at, nil
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

func (currentParams) changeable(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	// A form without a type holds changes to the current document; one with a type is a document to
	// be created.
	if s.Form == nil {
		return current(c, s)
	}
	d, err := blank(c, s)
	if err != nil || d == nil {
		return nil, err
	}
	// Sorted, since a property may lie within another one, which must be set first.
	for _, xpath := range slices.Sorted(maps.Keys(s.Form.Properties)) {
		if err := d.Set(xpath, s.Form.Properties[xpath]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// blank is the document of the open form without what was filled in.
func blank(c *engine.Ctx, s *uisession.Session) (*storage.Doc, error) {
	if s.Form.Type == "" {
		return current(c, s)
	}
	// Read again for each call: the folder may have been deleted, or closed to the caller, while
	// the form was open.
	folder, err := c.Tx.Doc(storage.Ref(s.Form.Parent))
	if err != nil {
		return nil, err
	}
	return storage.NewDocIn(c.Tx, folder, s.Form.Type, s.Form.Name())
}
