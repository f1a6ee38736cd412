package webui

import (
	"catena/engine"
	"catena/storage"
)

var getActions = engine.Op{
	Name:     "SeamActions.GET",
	Category: "Chain",
	Doc: "Returns the actions of a category, as Actions.GET does, that are available for the input document, for the current document of the UI session, " +
		"or for the one in the context variable currentDocument. Does not require a session.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(actionsParams.current), engine.On(actionsParams.run)).As("void", "object", "document", "object"),
}

type actionsParams struct {
	Category string `json:"category" doc:"Category, for example DOCUMENT."`
	Lang     string `json:"lang,omitzero" doc:"Language of labels and help, for example fr; English if there is no translation."`
}

// A document given as input takes precedence over the session. Without either, Actions.GET looks at
// the context variable itself.
func (p actionsParams) current(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	// Unlike the other operations of this package, a call without a session is not an error:
	// actions exist without a screen.
	if conversationOf(c) == "" {
		return p.run(c, nil)
	}
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	d, err := current(c, s)
	if err != nil {
		return nil, err
	}
	return p.run(c, d)
}

func (p actionsParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	params := map[string]any{"category": p.Category, "lang": p.Lang}
	var in any
	if d != nil {
		in = d
	}
	out, err := c.Call("Actions.GET", in, params)
	b, _ := out.(*storage.Blob)
	return b, err
}
