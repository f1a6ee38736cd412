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
	if p.ID == "" {
		p.ID = c.NewID()
	}
	s, err := uisession.Open(c.Tx, p.ID)
	if err != nil {
		return engine.Void{}, err
	}
	c.SetVar(conversation, s.ID)
	return engine.Void{}, nil
}

func (p contextParams) destroy(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	if p.ID == conversationOf(c) {
		c.SetVar(conversation, nil)
	}
	return engine.Void{}, uisession.Drop(c.Tx, p.ID)
}
