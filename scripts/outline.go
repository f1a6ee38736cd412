package scripts

import (
	"catena/engine"
	"catena/engine/library"
)

// outlineParam is a parameter as a header declares it.
type outlineParam struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Required    bool   `json:"required"`
	Default     any    `json:"default,omitempty"`
	Description string `json:"description"`
	Secret      bool   `json:"secret,omitempty"`
}

// outline is what the header of a text says.
type outline struct {
	Name        string            `json:"name"`
	Label       string            `json:"label"`
	Description string            `json:"description"`
	Input       string            `json:"input"`
	Output      string            `json:"output"`
	Effect      string            `json:"effect"`
	Params      []outlineParam    `json:"params"`
	Problems    []library.Problem `json:"problems"` // of the header alone
}

type outlineParams struct {
	Source string `json:"source" doc:"The text."`
	Name   string `json:"name" default:"script.js" doc:"File name for messages."`
}

// run reads a text that may be wrong: somebody is writing it.
func (p outlineParams) run(*engine.Ctx, engine.Void) (outline, error) {
	s, problems := parseHeader(p.Name, p.Source)
	out := outline{
		Name: s.Name, Label: s.Label, Description: s.Description, Input: s.Input, Output: s.Output, Effect: s.Effect.String(),
		Params: make([]outlineParam, len(s.Params)), Problems: append([]library.Problem{}, problems...),
	}
	for i, x := range s.Params {
		out.Params[i] = outlineParam{x.Name, x.Type, x.Required, x.Default, x.Doc, x.Secret}
	}
	return out, nil
}
