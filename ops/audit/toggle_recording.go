package audit

import (
	"catena/engine"
)

var toggleRecording = engine.Op{
	Name:     "Traces.ToggleRecording",
	Label:    "Traces.toggleRecording",
	Category: "Execution Context",
	Doc:      "Switches the recording of traces over, or on or off as enableTrace says, and returns whether they are recorded now. With readOnly it changes nothing.",
	Effect:   engine.Writes,
	Run:      engine.On(toggleParams.run),
}

type toggleParams struct {
	Enable   string `json:"enableTrace,omitzero" type:"boolean" enum:"true,false" doc:"Record or not; without it the other way round."`
	ReadOnly bool   `json:"readOnly" default:"false" doc:"Only tell."`
}

func (p toggleParams) run(c *engine.Ctx, _ engine.Void) (bool, error) {
	t := c.Engine().Traces()
	if !p.ReadOnly {
		on := !t.Recording()
		if p.Enable != "" {
			on = p.Enable == "true"
		}
		t.SetRecording(on)
	}
	return t.Recording(), nil
}
