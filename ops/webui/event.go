package webui

import (
	"catena/engine"
	"catena/storage/uisession"
)

var raiseEvents = engine.Op{
	Name:     "WebUI.RaiseSeamEvents",
	Aliases:  []string{"Seam.RaiseEvents"},
	Label:    "Raise Seam events",
	Category: interfaces,
	Requires: needs,
	Doc:      "Raises events in the UI session, which inform the user interface of changes, and returns the input.",
	Callers:  engine.Anyone,
	Run:      engine.On(raiseParams.run),
}

type raiseParams struct {
	Events []string `json:"seamEvents" doc:"Names of the events."`
}

func (p raiseParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, change(c, func(s *uisession.Session) { s.Raise(p.Events...) })
}

// changed are the events by which a user interface shows again what it shows.
// The names are those that the platform's former user interface listened for.
var changed = []string{"documentChanged", "documentChildrenChanged"}

var refresh = engine.Op{
	Name:     "WebUI.Refresh",
	Aliases:  []string{"Seam.Refresh"},
	Label:    "Refresh",
	Category: interfaces,
	Requires: needs,
	Doc: "Makes the user interface refresh, by raising the events documentChanged, documentChildrenChanged and the given ones, and returns the input. " +
		"Does nothing if the call has no session.",
	Callers: engine.Anyone,
	Run:     engine.On(refreshParams.run),
}

type refreshParams struct {
	Events []string `json:"additional list of seam events to raise,omitzero" doc:"Names of additional events."`
}

func (p refreshParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// As in the platform: chains end with a refresh whether or not they were started from a screen.
	if conversationOf(c) == "" {
		c.Log.Debug("nothing to refresh", "operation", "WebUI.Refresh")
		return engine.Void{}, nil
	}
	return engine.Void{}, change(c, func(s *uisession.Session) {
		s.Raise(changed...)
		s.Raise(p.Events...)
	})
}
