package audit

import (
	"catena/engine"
)

var getTrace = engine.Op{
	Name:     "Traces.Get",
	Label:    "Traces.getTrace",
	Category: "Execution Context",
	Doc:      "Returns, as text, the latest trace of an operation or chain, or without traceKey that of the last run that failed. Only failures have one unless recording is on.",
	Effect:   engine.Pure,
	Run:      engine.On(getTraceParams.run),
}

type getTraceParams struct {
	Key   string `json:"traceKey,omitzero" doc:"Name of the operation or chain."`
	Index int    `json:"index" type:"int" default:"-1" doc:"Accepted, without effect."`
}

func (p getTraceParams) run(c *engine.Ctx, _ engine.Void) (string, error) {
	traces := c.Engine().Traces()
	t, missing := traces.LastError(), "no trace of a failure"
	if p.Key != "" {
		t, missing = traces.Latest(p.Key), "no trace of "+p.Key
	}
	if t == nil {
		return missing, nil
	}
	return t.Text(), nil
}
