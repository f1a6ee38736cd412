package audit

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// fire is for administrators and stored chains: with an event of any name, a caller could otherwise
// start listeners that act with the rights of the server.
var fire = engine.Op{
	Name:     "Event.Fire",
	Aliases:  []string{"Notification.SendEvent"},
	Label:    "Send Event",
	Category: "Notification",
	Doc: "Fires an event, one for each input document or else one without a document, and returns the input. " +
		"Listeners run within the call, and the audit log records the event.",
	Callers: engine.Admins.OrStored(),
	Run:     engine.On(fireParams.run),
}

type fireParams struct {
	Name string `json:"name" blamed:"event" doc:"Name of the event."`
}

func (p fireParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The input is read from the context, since the operation declares none: any value is accepted
	// and handed on.
	docs, err := documents(c)
	if err != nil {
		return engine.Void{}, err
	}
	if docs == nil {
		return engine.Void{}, c.Tx.Fire(storage.Event{Name: p.Name})
	}
	for _, d := range docs {
		if err := c.Tx.Fire(storage.Event{Name: p.Name, Doc: d}); err != nil {
			return engine.Void{}, err
		}
	}
	return engine.Void{}, nil
}

// documents returns the documents that the input consists of or names; nil if it is
// anything else.
func documents(c *engine.Ctx) (storage.Docs, error) {
	switch in := c.Input.(type) {
	case *storage.Doc, storage.Docs, *storage.Page, storage.Ref, storage.Refs, []any:
	case string:
		// A text is taken for a document only if it looks like a path; an id cannot be told from
		// other text.
		if !strings.HasPrefix(in, "/") {
			return nil, nil
		}
	default:
		return nil, nil
	}
	v, err := c.Convert(c.Input, "documents")
	// A list of something else is not an error: the event is then fired without a document. One
	// that names a missing document is.
	if fault.Is(err, fault.Invalid) {
		return nil, nil
	}
	docs, _ := v.(storage.Docs)
	return docs, err
}
