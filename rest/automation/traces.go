package automation

import (
	"net/http"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// maxTraces is how many traces a list has unless it is asked for fewer.
const maxTraces = 100

// listTraces lists the traces that are kept, newest first: those of calls that failed, and of calls that were recorded.
func listTraces(x *rest.Request) error {
	q := x.Query()
	f := engine.TraceFilter{Op: q.Get("operation"), Request: q.Get("requestId"), Status: q.Get("status"), User: q.Get("user")}
	if s := f.Status; s != "" && s != "ok" && s != "failed" {
		return fault.Invalid.Errorf("status %q: must be ok or failed", s).In("status")
	}
	var err error
	if f.Limit, err = limitOf(q, maxTraces); err != nil {
		return err
	}
	return x.JSON(http.StatusOK, map[string]any{"entity-type": "traces", "entries": x.Engine.ListTraces(x.HTTP.Context(), x.As, f)})
}

// readTrace shows the trace of an earlier call.
func readTrace(x *rest.Request) error {
	id, err := x.Param("trace")
	if err != nil {
		return err
	}
	t, err := x.Engine.ReadTrace(x.HTTP.Context(), x.As, id)
	if err != nil {
		return err
	}
	return x.JSON(http.StatusOK, t)
}
