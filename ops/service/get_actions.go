package service

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var getActions = engine.Op{
	Name:     "Actions.GET",
	Label:    "List available actions",
	Category: "Services",
	Doc: "Lists the actions of a category that are available for the document, or for that of context variable currentDocument, as JSON: " +
		"those whose operation the caller may run and whose permission the caller has.",
	Effect: engine.Reads,
	Run:    engine.Overload(engine.On(actionsParams.void), engine.On(actionsParams.doc)),
}

type actionsParams struct {
	Category string `json:"category" doc:"Category, for example DOCUMENT."`
	Lang     string `json:"lang,omitzero" doc:"Language of labels and help: en, de or fr."`
}

func (p actionsParams) void(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
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
		err = fault.Invalid.Errorf("variable currentDocument: path or id of a document expected").In("currentDocument")
	}
	if err != nil {
		return nil, err
	}
	return p.doc(c, d)
}

func (p actionsParams) doc(c *engine.Ctx, d *storage.Doc) (*storage.Blob, error) {
	out := []map[string]any{}
	for _, a := range actions {
		if a.category != p.Category || !a.available(c, d) {
			continue
		}
		out = append(out, map[string]any{
			"id": a.id, "link": a.operation, "icon": "/icons/" + a.icon + ".png",
			"label": a.label.in(p.Lang), "help": a.help.in(p.Lang), "properties": map[string]any{},
		})
	}
	return jsonFile("actions.json", out)
}

// action is something a user interface may offer.
type action struct {
	id, category, operation, icon string
	permission                    string
	folder                        bool // for folders only
	label, help                   texts
}

// texts are a text in English, German and French.
type texts [3]string

func (t texts) in(lang string) string {
	switch {
	case len(lang) >= 2 && lang[:2] == "de":
		return t[1]
	case len(lang) >= 2 && lang[:2] == "fr":
		return t[2]
	}
	return t[0]
}

// available reports whether the action can be taken on the document by who asks.
func (a *action) available(c *engine.Ctx, d *storage.Doc) bool {
	switch {
	case c.Set() == nil || !c.Set().Allowed(a.operation, c.As, c.Door):
		return false
	case d == nil:
		return a.permission == "" && !a.folder
	case a.folder && !d.IsFolder():
		return false
	}
	return a.permission == "" || c.Tx.Can(d, a.permission)
}
