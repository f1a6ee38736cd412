package audit

import (
	"context"

	"catena/engine"
)

var toggleStack = engine.Op{
	Name:     "JsonStack.ToggleDisplay",
	Label:    "Json Error Stack Display",
	Category: "Execution Context",
	Since:    "6.0",
	Doc: "Switches on or off, or toggles without enableTrace, whether answers to failed calls contain their trace as stacktrace, until the server is stopping. " +
		"Returns whether they now do.",
	Effect:  engine.Writes,
	Callers: engine.Admins,
	Run:     engine.On(toggleStackParams.run),
}

type toggleStackParams struct {
	Enable string `json:"enableTrace,omitzero" type:"boolean" enum:"true,false" doc:"Whether to show traces; without it, the setting is toggled."`
}

func (p toggleStackParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	on := !c.Engine().Traces().Shown()
	if p.Enable != "" {
		on = p.Enable == "true"
	}
	c.After(func(ctx context.Context) error { return c.Engine().Turn(ctx, nil, &on) })
	return on, nil
}
