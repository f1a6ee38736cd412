package audit

import (
	"catena/engine"
	"catena/storage"
)

var fire = engine.Op{
	Name:     "Event.Fire",
	Aliases:  []string{"Notification.SendEvent"},
	Label:    "Send Event",
	Category: "Notification",
	Doc: "Fires an event, one for each input document or else one without a document, and keeps the input. " +
		"Listeners run within the call, and the audit log records the event.",
	Run: engine.On(fireParams.run),
}

type fireParams struct {
	Name string `json:"name" doc:"Name of the event."`
}

func (p fireParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	docs, ok := documents(c.Input)
	if !ok {
		return engine.Void{}, c.Tx.Fire(p.Name, nil, nil)
	}
	for _, d := range docs {
		if err := c.Tx.Fire(p.Name, d, nil); err != nil {
			return engine.Void{}, err
		}
	}
	return engine.Void{}, nil
}

// documents returns the documents of an input, if that is what it consists of.
func documents(in any) (storage.Docs, bool) {
	switch v := in.(type) {
	case *storage.Doc:
		return storage.Docs{v}, v != nil
	case storage.Docs:
		return v, true
	case *storage.Page:
		if v != nil {
			return v.Docs, true
		}
	}
	return nil, false
}
