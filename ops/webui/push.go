package webui

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/uisession"
)

var pushDocument = engine.Op{
	Name:     "WebUI.PushDocumentToSeamContext",
	Aliases:  []string{"Seam.PushDocument"},
	Label:    "Push to Seam Context",
	Category: interfaces,
	Requires: needs,
	Doc: "Gives the document a name in the UI session and returns it. The name is valid in all sessions of the user (session), in this one (conversation), " +
		"until another document is shown (page), or until the user interface has read the raised events (event). Other scopes are ignored.",
	Callers: engine.Anyone,
	Run:     engine.On(pushParams.run),
}

type pushParams struct {
	Name  string `json:"name" doc:"The name."`
	Scope string `json:"scope" values:"session,conversation,page,event" doc:"Scope of the name."`
}

func (p pushParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	s, err := session(c)
	// Ignoring an unknown scope is the platform's behavior.
	if err != nil || !slices.Contains(uisession.Scopes, uisession.Scope(p.Scope)) {
		return d, err
	}
	return d, s.Push(c.Tx, uisession.Scope(p.Scope), p.Name, d)
}

var fetchDocument = engine.Op{
	Name:     "Seam.FetchDocument",
	Label:    "UI Document From Seam",
	Category: fetch,
	Requires: needs,
	Doc:      "Returns the document with a name in the UI session, searching the narrowest scope first, or nothing.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(fetchParams.run),
}

type fetchParams struct {
	Name string `json:"name" doc:"The name given by WebUI.PushDocumentToSeamContext."`
}

func (p fetchParams) run(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	pushed, err := s.Pushed(c.Tx)
	if err != nil {
		return nil, err
	}
	// The first name that is found decides, even if its document is gone: a wider scope must not
	// show another document under the same name.
	for _, scope := range uisession.Scopes {
		if id, ok := pushed[scope][p.Name]; ok {
			return uisession.Readable(c.Tx, id)
		}
	}
	return nil, nil //nolint:nilnil // there is none
}
