package webui

import (
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/uisession"
)

// list and the operations below are for the front end, not for chains: they have no counterpart in
// the platform, whose user interface ran in the same process.
var list = engine.Op{
	Name:     "UISession.List",
	Label:    "UI Sessions",
	Category: interfaces,
	Doc:      "Returns the caller's UI sessions, without their documents and lists.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UISessions"),
	Run:      engine.On(listSessionsParams.run),
}

type listSessionsParams struct{}

func (listSessionsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	all, err := uisession.All(c.Tx)
	if err != nil {
		return nil, err
	}
	entries := make([]any, len(all))
	for i, s := range all {
		entries[i] = head(s)
	}
	return map[string]any{"entity-type": "uiSessions", "entries": entries}, nil
}

var read = engine.Op{
	Name:     "UISession.Read",
	Label:    "UI Session",
	Category: interfaces,
	Doc:      "Returns the state of a UI session: what is shown, what will be shown next, its messages, and the caller's lists.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("UISession"),
	Run:      engine.On(namedParams.read),
}

// take reads and clears in one transaction, so of two windows that ask at the same time only one
// shows a message.
var take = engine.Op{
	Name:     "UISession.Take",
	Label:    "Take from UI Session",
	Category: interfaces,
	Doc: "Returns the state of a UI session and clears everything that is shown only once: its messages, its events with the documents named for them, and its outcome. " +
		"A user interface uses it to show each of them once.",
	Callers: engine.Anyone,
	Result:  openapi.Ref("UISession"),
	Run:     engine.On(namedParams.take),
}

type namedParams struct {
	ID string `json:"conversationId" doc:"Id of the session."`
}

// Sessions are looked up among the caller's own: the id of another user's is NotFound.
func (p namedParams) find(c *engine.Ctx) (*uisession.Session, error) { return uisession.Of(c.Tx, p.ID) }

func (p namedParams) read(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	s, err := p.find(c)
	if err != nil {
		return nil, err
	}
	return state(c, s)
}

func (p namedParams) take(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	s, err := p.find(c)
	if err != nil {
		return nil, err
	}
	// Described before it is cleared: the answer must show what is taken.
	out, err := state(c, s)
	if err != nil {
		return nil, err
	}
	s.Taken()
	return out, s.Keep(c.Tx)
}

var update = engine.Op{
	Name:     "UISession.Update",
	Label:    "Update UI Session",
	Category: interfaces,
	Doc: "Updates a UI session with the user's actions, and returns its state: currentDocument, by id or path; tab; the properties of the form, which without a form " +
		"are changes to the current document; and lists of documents by name, such as CURRENT_SELECTION. Omitted fields are unchanged.",
	Callers: engine.Anyone,
	Result:  openapi.Ref("UISession"),
	Run:     engine.On(updateParams.run),
}

type updateParams struct {
	ID    string         `json:"conversationId" doc:"Id of the session."`
	State map[string]any `json:"state" type:"object" doc:"The fields to change, in the form that UISession.Read returns."`
}

func (p updateParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	s, err := uisession.Of(c.Tx, p.ID)
	if err != nil {
		return nil, err
	}
	if ref, _ := p.State["currentDocument"].(string); ref != "" {
		d, err := c.Tx.Doc(storage.Ref(ref))
		if err != nil {
			return nil, err
		}
		s.Show(d.ID())
	}
	if tab, ok := p.State["tab"].(string); ok {
		s.Tab = tab
	}
	// Type and parent in the request are ignored: only WebUI.ShowCreateForm decides what is
	// created, and where. The properties replace those entered before.
	if form, _ := p.State["form"].(map[string]any); form != nil {
		if s.Form == nil {
			s.Form = &uisession.Form{}
		}
		s.Form.Properties, _ = form["properties"].(map[string]any)
	}
	lists, _ := p.State["lists"].(map[string]any)
	for name, refs := range lists {
		if err := setList(c, name, refs); err != nil {
			return nil, err
		}
	}
	if err := s.Keep(c.Tx); err != nil {
		return nil, err
	}
	return state(c, s)
}

// setList gives a list the documents that ids or paths name.
func setList(c *engine.Ctx, name string, refs any) error {
	given, ok := refs.([]any)
	if !ok || name == "" {
		return fault.Invalid.Errorf("lists: must be lists of ids by name").In("lists")
	}
	// Documents are read, not just listed by id, so that a list never holds what the caller could
	// not read when it was set.
	docs := make([]*storage.Doc, len(given))
	for i, ref := range given {
		text, _ := ref.(string)
		var err error
		if docs[i], err = c.Tx.Doc(storage.Ref(text)); err != nil {
			return err
		}
	}
	return uisession.Set(c.Tx, name, docs...)
}

// The part of a session that is shown in lists. It names no documents, so it needs no check of
// permissions.
func head(s *uisession.Session) map[string]any {
	return map[string]any{
		"entity-type": "uiSession", "id": s.ID, "created": moment(s.Created), "modified": moment(s.Changed), "expires": moment(s.Expires),
	}
}

func moment(t time.Time) string { return t.Format(time.RFC3339) }

// state is a session as it goes over the wire. Documents are there that may be read.
func state(c *engine.Ctx, s *uisession.Session) (map[string]any, error) {
	lists, err := uisession.Lists(c.Tx)
	if err != nil {
		return nil, err
	}
	d, err := current(c, s)
	if err != nil {
		return nil, err
	}
	pushed, err := s.Pushed(c.Tx)
	if err != nil {
		return nil, err
	}
	documents := map[string]any{}
	for scope, byName := range pushed {
		documents[string(scope)], err = readable(c, byName)
		if err != nil {
			return nil, err
		}
	}
	messages := make([]any, len(s.Messages))
	for i, m := range s.Messages {
		messages[i] = map[string]any{"severity": m.Severity, "message": m.Text}
	}
	out := head(s)
	out["currentDocument"], out["form"], out["download"] = nil, nil, nil
	out["outcome"], out["tab"], out["messages"], out["events"] = s.Outcome, s.Tab, messages, append([]string{}, s.Events...)
	out["lists"], out["documents"] = lists, documents
	if d != nil {
		out["currentDocument"] = d.ID()
	}
	if f := s.Form; f != nil {
		out["form"] = map[string]any{"type": f.Type, "parent": f.Parent, "properties": f.Properties}
	}
	if f := s.File; f != nil {
		out["download"] = map[string]any{"name": f.Blob.Name, "mime-type": f.Blob.Type, "length": f.Blob.Size}
	}
	return out, nil
}

// Permissions are checked on every reading: a document may have been closed to the user since it
// was pushed.
func readable(c *engine.Ctx, byName uisession.ByName) (map[string]any, error) {
	out := map[string]any{}
	for name, id := range byName {
		d, err := uisession.Readable(c.Tx, id)
		if err != nil {
			return nil, err
		}
		if d != nil {
			out[name] = id
		}
	}
	return out, nil
}
