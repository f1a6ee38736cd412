package audit

import (
	"catena/engine"
)

var toggleStack = engine.Op{
	Name:     "JsonStack.ToggleDisplay",
	Label:    "Json Error Stack Display",
	Category: "Execution Context",
	Since:    "6.0",
	Doc: "Switches over, or on or off as enableTrace says, whether answers to calls that failed have their trace, as stacktrace, until the server ends. " +
		"Returns whether they have it now.",
	Effect: engine.Writes,
	Run:    engine.On(toggleStackParams.run),
}

type toggleStackParams struct {
	Enable string `json:"enableTrace,omitzero" type:"boolean" enum:"true,false" doc:"Show traces or not; without it the other way round."`
}

func (p toggleStackParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	t := c.Engine().Traces()
	on := !t.Shown()
	if p.Enable != "" {
		on = p.Enable == "true"
	}
	t.Show(on)
	return on, nil
}
