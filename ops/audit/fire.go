package audit

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

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
	Name string `json:"name" doc:"Name of the event."`
}

func (p fireParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	docs, err := documents(c)
	if err != nil {
		return engine.Void{}, err
	}
	if docs == nil {
		return engine.Void{}, c.Tx.Fire(p.Name, nil, nil)
	}
	for _, d := range docs {
		if err := c.Tx.Fire(p.Name, d, nil); err != nil {
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
		if !strings.HasPrefix(in, "/") {
			return nil, nil
		}
	default:
		return nil, nil
	}
	v, err := c.Convert(c.Input, "documents")
	if fault.Is(err, fault.Invalid) {
		return nil, nil
	}
	docs, _ := v.(storage.Docs)
	return docs, err
}
