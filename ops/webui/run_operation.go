package webui

import (
	"strings"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage/fault"
	"catena/storage/uisession"
)

// runOperation checks nothing about the operation it runs: the call goes through the engine, which
// applies the callers of that operation.
var runOperation = engine.Op{
	Name:     "WebUI.RunOperationInSeam",
	Aliases:  []string{"Seam.RunOperation"},
	Label:    "Run operation in Seam Context",
	Category: interfaces,
	Doc: "Runs an operation or chain on the input in a UI session and returns its result. If no session is open, it opens one and ends it afterwards. " +
		"If the operation fails, the message of WebUI.AddErrorMessage precedes the error. Undeclared parameters are passed to the operation.",
	Callers: engine.Anyone,
	Open:    true,
	Result:  openapi.Ref("Value"),
	Run:     engine.On(runParams.run).As("void", "object"),
}

type runParams struct {
	Operation string `json:"id" names:"operation" doc:"Name of the operation or chain."`
	ID        string `json:"conversationId,omitzero" doc:"Id of the session; it is opened if it does not exist."`
	Isolate   bool   `json:"isolate" default:"false" doc:"Use a copy of the context variables."`
}

func (p runParams) run(c *engine.Ctx, _ engine.Void) (any, error) {
	before, had := c.Vars[conversation]
	id, opened, err := p.open(c)
	if err != nil {
		return nil, err
	}
	c.SetVar(conversation, id)
	sub := c.Sub(p.Isolate)
	// The prefix is how addresses and menus of the platform write the name of a chain.
	out, err := sub.Call(strings.TrimPrefix(p.Operation, "Chain."), c.Input, nil)
	// A session that existed before stays open, and the rest of the chain goes on in it. One that was opened ends here,
	// also if the operation fails: a chain that goes on after the failure finds the context as it was.
	if opened {
		if c.SetVar(conversation, before); !had {
			delete(c.Vars, conversation)
		}
	}
	if err != nil {
		// Read from the variables of the sub-context: isolated ones do not reach c, and the session
		// is undone with the call.
		if text, _ := sub.Vars[errorMessage].(string); text != "" {
			return nil, fault.Wrap(err, "%s", text)
		}
		return nil, err
	}
	if !opened {
		return out, nil
	}
	return out, uisession.Drop(c.Tx, id)
}

// open returns the id of the session that is to be worked in; opened says that there was none.
// A session that has expired counts as missing and is opened again under its id.
func (p runParams) open(c *engine.Ctx) (id string, opened bool, err error) {
	if p.ID == "" {
		p.ID, opened = c.NewID(), true
	} else if _, err = uisession.Of(c.Tx, p.ID); fault.Is(err, fault.NotFound) {
		opened, err = true, nil
	}
	if opened && err == nil {
		_, err = uisession.Open(c.Tx, p.ID)
	}
	return p.ID, opened, err
}
