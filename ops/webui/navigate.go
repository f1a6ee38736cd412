package webui

import (
	"cmp"

	"catena/engine"
	"catena/storage"
	"catena/storage/uisession"
)

var navigateTo = engine.Op{
	Name:     "WebUI.NavigateTo",
	Aliases:  []string{"Seam.NavigateTo"},
	Label:    "Navigate to Document",
	Category: interfaces,
	Requires: needs,
	Doc:      "Makes the document the current one of the UI session, sets the outcome and returns the document. A form for another document is closed.",
	Callers:  engine.Anyone,
	Run:      engine.On(navigateParams.run),
}

type navigateParams struct {
	View string `json:"view,omitzero" doc:"Name of the view to show, which becomes the outcome; view_documents by default."`
}

// Storage has checked that the caller may read the document, since it came in as the input.
func (p navigateParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	view := cmp.Or(p.View, mainView)
	return d, change(c, func(s *uisession.Session) {
		s.Show(d.ID())
		show(c, s, view)
	})
}

var changeTab = engine.Op{
	Name:     "Navigation.ChangeCurrentTab",
	Aliases:  []string{"Seam.ChangeTab"},
	Label:    "Change Current Tab",
	Category: interfaces,
	Requires: needs,
	Doc:      "Changes the current tab of the UI session and returns the input.",
	Callers:  engine.Anyone,
	Run:      engine.On(tabParams.run),
}

type tabParams struct {
	Tab string `json:"tab" doc:"Name of the tab."`
}

func (p tabParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, change(c, func(s *uisession.Session) { s.Tab = p.Tab })
}

var setOutcome = engine.Op{
	Name:     "WebUI.SetJSFOutcome",
	Sets:     []string{outcomeVar},
	Aliases:  []string{"Seam.SetOutcome"},
	Label:    "Set JSF Outcome",
	Category: interfaces,
	Requires: needs,
	Doc:      "Sets the outcome, the name of the view to show next, and returns the input. The context variable Outcome holds it too.",
	Callers:  engine.Anyone,
	Run:      engine.On(outcomeParams.run),
}

type outcomeParams struct {
	Outcome string `json:"outcome" doc:"Name of the view."`
}

func (p outcomeParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, change(c, func(s *uisession.Session) { show(c, s, p.Outcome) })
}
