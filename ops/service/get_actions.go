package service

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

func getActions(actions func() Actions) engine.Op {
	return engine.Op{
		Name:     "Actions.GET",
		Label:    "List available actions",
		Category: "Services",
		Doc: "Returns the actions of a category that are available for the document, or for the one in the context variable currentDocument, as JSON: " +
			"those whose operation the caller may run and whose declaration matches the document and the caller.",
		Effect:  engine.Reads,
		Callers: engine.Anyone,
		Run: engine.Overload(
			engine.On(func(p actionsParams, c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
				return p.current(c, actions())
			}),
			engine.On(func(p actionsParams, c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
				return p.run(c, actions(), d)
			}),
		),
	}
}

type actionsParams struct {
	Category string `json:"category" doc:"Category, for example DOCUMENT."`
	Lang     string `json:"lang,omitzero" doc:"Language of labels and help, for example fr; English if there is no translation."`
}

func (p actionsParams) current(c *engine.Ctx, actions Actions) (*storage.Blob, error) {
	// Without the variable, d stays nil: the actions that need no document are returned.
	var d *storage.Doc
	var err error
	switch v := c.Vars["currentDocument"].(type) {
	case *storage.Doc:
		d = v
	case storage.Ref:
		d, err = c.Tx.Doc(v)
	case string:
		d, err = c.Tx.Doc(storage.Ref(v))
	case nil:
	default:
		err = fault.Invalid.Errorf("variable currentDocument: must be the path or id of a document").In("currentDocument")
	}
	if err != nil {
		return nil, err
	}
	return p.run(c, actions, d)
}

func (p actionsParams) run(c *engine.Ctx, actions Actions, d *storage.Doc) (*storage.Blob, error) {
	out := []map[string]any{}
	for _, a := range actions {
		if slices.Contains(a.categories, p.Category) && a.available(c, d) {
			out = append(out, a.entity(p.Lang))
		}
	}
	return jsonFile("actions.json", out)
}
