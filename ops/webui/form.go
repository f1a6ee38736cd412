package webui

import (
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/uisession"
)

var showForm = engine.Op{
	Name:     "WebUI.ShowCreateForm",
	Aliases:  []string{"Seam.CreateDocumentForm"},
	Label:    "Show Create Document Page",
	Category: interfaces,
	Requires: needs,
	Doc: "Opens a form for creating a document in the current document of the UI session, sets the outcome to create_document and returns the input. " +
		"The user interface stores the values entered in the session.",
	Callers: engine.Anyone,
	Run:     engine.On(formParams.run),
}

type formParams struct {
	Type string `json:"type" names:"type" doc:"Type of the new document."`
}

func (p formParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	s, err := session(c)
	if err != nil {
		return engine.Void{}, err
	}
	d, err := current(c, s)
	if err != nil {
		return engine.Void{}, err
	}
	if d == nil {
		return engine.Void{}, noCurrent(s)
	}
	// Only the type is checked now. Whether the folder accepts it, and whether the caller may
	// create there, is checked when the form is submitted.
	if _, err := c.Tx.NewDoc(p.Type); err != nil {
		return engine.Void{}, err
	}
	// It replaces an open form with what was entered in it. The folder is remembered, since the
	// current document may change while the form is open.
	s.Form = &uisession.Form{Type: p.Type, Parent: d.ID()}
	show(c, s, createView)
	return engine.Void{}, s.Keep(c.Tx)
}

func noCurrent(s *uisession.Session) error {
	return fault.Conflict.Errorf("UI session %s: there is no current document", s.ID)
}

var createDocument = engine.Op{
	Name:     "Seam.CreateDocumentInUI",
	Label:    "Create Document in UI",
	Category: interfaces,
	Requires: needs,
	Doc: "Creates the document of the open form, named by its title, and makes it the current document of the UI session; the outcome is view_documents. " +
		"Returns the document.",
	Callers: engine.Anyone,
	Run:     engine.On(submitParams.create),
}

var saveDocument = engine.Op{
	Name:     "Seam.SaveDocumentInUI",
	Label:    "Save Document in UI",
	Category: interfaces,
	Requires: needs,
	Doc: "Saves the values entered in the form of the UI session on the current document, and returns it; the outcome is view_documents. " +
		"For a form of a new document, it creates the document.",
	Callers: engine.Anyone,
	Run:     engine.On(submitParams.save),
}

type submitParams struct{}

// Without a form there is nothing to change; the document is saved all the same.
func (p submitParams) save(c *engine.Ctx, in engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	switch {
	case err != nil:
		return nil, err
	case s.Form == nil:
		s.Form = &uisession.Form{}
	case s.Form.Type != "":
		return p.create(c, in)
	}
	d, err := current(c, s)
	if err != nil {
		return nil, err
	}
	if d == nil {
		return nil, noCurrent(s)
	}
	return submit(c, s, "Resource.Update", d, map[string]any{})
}

func (submitParams) create(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	if s.Form == nil || s.Form.Type == "" {
		return nil, fault.Conflict.Errorf("UI session %s: no form for a new document is open", s.ID)
	}
	folder, err := c.Tx.Doc(storage.Ref(s.Form.Parent))
	if err != nil {
		return nil, err
	}
	return submit(c, s, "Resource.Create", folder, map[string]any{"type": s.Form.Type, "name": s.Form.Name()})
}

// submit has an operation take what was filled in, as part of an entity, and shows the document it gives.
// It goes through the operation behind the REST address, so that files, constraints and permissions
// are treated the same way.
func submit(c *engine.Ctx, s *uisession.Session, op string, in *storage.Doc, entity map[string]any) (*storage.Doc, error) {
	entity["entity-type"], entity["properties"] = "document", s.Form.Properties
	out, err := c.Call(op, in, map[string]any{"document": entity})
	if err != nil {
		return nil, err
	}
	d, ok := out.(*storage.Doc)
	if !ok {
		return nil, fault.Internal.Errorf("operation %s: did not return a document", op)
	}
	s.Show(d.ID())
	// Only after the call: if it fails, the transaction and with it the session are as before, and
	// the user does not lose what was entered.
	s.Form = nil
	show(c, s, mainView)
	return d, s.Keep(c.Tx)
}

var goBack = engine.Op{
	Name:     "Navigation.GoBack",
	Aliases:  []string{"Seam.CancelCreateDocumentInUI"},
	Label:    "Cancel Document Creation in UI",
	Category: interfaces,
	Requires: needs,
	Doc:      "Closes the open form of the UI session, sets the outcome to view_documents, and returns the current document, or nothing.",
	Callers:  engine.Anyone,
	Run:      engine.On(submitParams.cancel),
}

func (submitParams) cancel(c *engine.Ctx, _ engine.Void) (*storage.Doc, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	s.Form = nil
	show(c, s, mainView)
	if err := s.Keep(c.Tx); err != nil {
		return nil, err
	}
	return current(c, s)
}
