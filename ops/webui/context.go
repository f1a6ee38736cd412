package webui

import (
	"catena/engine"
	"catena/storage/uisession"
)

var initContext = engine.Op{
	Name:     "WebUI.InitSeamContext",
	Sets:     []string{conversation},
	Aliases:  []string{"Seam.InitContext"},
	Label:    "Init Seam Context",
	Category: interfaces,
	Doc: "Opens a UI session of the caller for the rest of the call, either an existing one or a new one, and returns the input. Its id is in the context variable " +
		"conversationId, which later calls send to work in the same session. The session ends with WebUI.DestroySeamContext, some time after its last change, or when the user is deleted.",
	Callers: engine.Anyone,
	Run:     engine.On(contextParams.open),
}

var destroyContext = engine.Op{
	Name:     "WebUI.DestroySeamContext",
	Aliases:  []string{"Seam.DestroyContext"},
	Label:    "Destroy Seam Context",
	Category: interfaces,
	Doc:      "Ends a UI session of the caller, if there is one, and returns the input. The clipboard, the worklist and the other lists are kept.",
	Callers:  engine.Anyone,
	Run:      engine.On(contextParams.destroy),
}

type contextParams struct {
	ID string `json:"conversationId,omitzero" doc:"Id of the session: up to 64 letters, digits, dots, - and _. By default a new session is opened, or the current one is ended."`
}

func (p contextParams) open(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// A client may choose the id, which lets it use the same one again after a session has expired.
	// Ids of different users never meet: rows are kept by user.
	if p.ID == "" {
		p.ID = c.NewID()
	}
	s, err := uisession.Open(c.Tx, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	// The rest of the chain works in the session by this variable. Nothing else connects a call
	// with it.
	c.SetVar(conversation, s.ID)
	return engine.Void{}, nil
}

func (p contextParams) destroy(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The parameter defaults to the context variable, as every parameter does, so the current
	// session is the one that ends if none is named.
	if p.ID == conversationOf(c) {
		c.SetVar(conversation, nil)
	}
	// A session that does not exist is a success: the platform only logs failures of this
	// operation.
	return engine.Void{}, uisession.Drop(c.Tx, p.ID)
}
