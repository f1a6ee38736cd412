package audit

import (
	"catena/engine"
)

// getTrace is for administrators only, since traces show parameters and variables of everybody's
// calls. The platform answers others with null.
var getTrace = engine.Op{
	Name:     "Traces.Get",
	Label:    "Traces.getTrace",
	Category: "Execution Context",
	Doc:      "Returns the latest trace of an operation or chain as text; without traceKey, the trace of the last failed run. Only failed runs have a trace unless recording is on.",
	Effect:   engine.Pure,
	Callers:  engine.Admins,
	Run:      engine.On(getTraceParams.run),
}

type getTraceParams struct {
	Key   string `json:"traceKey,omitzero" doc:"Name of the operation or chain."`
	Index int    `json:"index" type:"int" default:"-1" unused:"true" doc:"Accepted but ignored."`
}

func (p getTraceParams) run(c *engine.Ctx, _ engine.Void) (string, error) {
	text, missing := c.Engine().TraceText(c, p.Key), "no trace of a failed run"
	if p.Key != "" {
		missing = "no trace of " + p.Key
	}
	// A sentence instead of an error, as in the platform, whose pages show the text as it is.
	if text == "" {
		return missing, nil
	}
	return text, nil
}
