package webui

import (
	"fmt"
	"strconv"
	"strings"

	"catena/engine"
	"catena/storage/uisession"
)

// Context variables of messages. Their names are the platform's, by which its chains pass values.
const (
	infoMessage   = "Seam.AddInfoMessage"
	errorMessage  = "Seam.AddErrorMessage"
	messageValues = "AddMessage.messageParams"
)

var addMessage = engine.Op{
	Name:     "WebUI.AddMessage",
	Aliases:  []string{"Seam.AddMessage"},
	Label:    "Add Message",
	Category: interfaces,
	Requires: needs,
	Doc: "Adds a message for the user interface to show, and returns the input. {0}, {1} and so on stand for the values of the context variable " +
		"AddMessage.messageParams, a list.",
	Callers: engine.Anyone,
	Run:     engine.On(messageParams.run),
}

type messageParams struct {
	Message  string `json:"message" doc:"The message."`
	Severity string `json:"severity" enum:"INFO,WARN,ERROR" doc:"Severity of the message."`
}

func (p messageParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, say(c, p.Severity, filled(p.Message, c.Vars[messageValues]))
}

func say(c *engine.Ctx, severity, text string) error {
	return change(c, func(s *uisession.Session) {
		s.Messages = append(s.Messages, uisession.Message{Severity: severity, Text: text})
	})
}

// filled puts values in place of {0}, {1} and so on.
// One pass over the text: a value that itself contains {0} stays as it is.
func filled(text string, values any) string {
	list, ok := values.([]any)
	if !ok && values != nil {
		list = []any{values}
	}
	var pairs []string
	for i, v := range list {
		pairs = append(pairs, "{"+strconv.Itoa(i)+"}", fmt.Sprint(v))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

var addInfoMessage = engine.Op{
	Name:     "WebUI.AddInfoMessage",
	Aliases:  []string{infoMessage},
	Label:    "Add Info Message",
	Category: interfaces,
	Requires: needs,
	Doc:      "Makes the user interface show a message if the call succeeds, and returns the input. The context variable Seam.AddInfoMessage holds it too.",
	Callers:  engine.Anyone,
	Run:      engine.On(textParams.info),
}

var addErrorMessage = engine.Op{
	Name:     "WebUI.AddErrorMessage",
	Aliases:  []string{errorMessage},
	Label:    "Add Error Message",
	Category: interfaces,
	Requires: needs,
	Doc: "Sets the message to show if the operation that WebUI.RunOperationInSeam runs fails later, and returns the input. The context variable Seam.AddErrorMessage holds it, " +
		"since a failed call leaves nothing in its session.",
	Callers: engine.Anyone,
	Run:     engine.On(textParams.failure),
}

type textParams struct {
	Message string `json:"message" doc:"The message."`
}

func (p textParams) info(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The platform keeps the message in the variable only. Here it goes to the session too, which
	// is kept only if the call succeeds.
	c.SetVar(infoMessage, p.Message)
	return engine.Void{}, say(c, "INFO", p.Message)
}

func (p textParams) failure(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	// The session is looked up just to refuse the call without one. Nothing is written to it: a
	// failed call would lose it.
	_, err := session(c)
	c.SetVar(errorMessage, p.Message)
	return engine.Void{}, err
}
