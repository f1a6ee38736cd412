package audit

import (
	"context"

	"catena/engine"
)

// toggleRecording changes the servers that are running and nothing stored: it ends with a restart. The platform
// answers everybody with the state; here it is for administrators.
var toggleRecording = engine.Op{
	Name:     "Traces.ToggleRecording",
	Label:    "Traces.toggleRecording",
	Category: "Execution Context",
	Doc:      "Switches the recording of traces on or off, or toggles it without enableTrace, and returns whether traces are now recorded. With readOnly it changes nothing.",
	Effect:   engine.Writes,
	Callers:  engine.Admins,
	Run:      engine.On(toggleParams.run),
}

type toggleParams struct {
	// A text and not a bool, since "not given" has a meaning of its own.
	Enable   string `json:"enableTrace,omitzero" type:"boolean" enum:"true,false" doc:"Whether to record; without it, recording is toggled."`
	ReadOnly bool   `json:"readOnly" default:"false" doc:"Only report the state."`
}

func (p toggleParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	on := c.Engine().Traces().Recording()
	if p.ReadOnly {
		return on, nil
	}
	on = !on
	if p.Enable != "" {
		on = p.Enable == "true"
	}
	c.After(func(ctx context.Context) error { return c.Engine().Turn(ctx, &on, nil) })
	return on, nil
}
