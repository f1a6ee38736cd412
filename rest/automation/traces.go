package automation

import (
	"net/http"
	"net/url"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// maxTraces is how many traces a list has unless it is asked for fewer.
const maxTraces = 100

// traced is a kept trace in a list, without its steps.
type traced struct {
	ID       string        `json:"id"`
	Op       string        `json:"op"`
	Status   string        `json:"status"` // ok or failed
	Error    string        `json:"error,omitempty"`
	User     string        `json:"user"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"` // in nanoseconds
	Request  string        `json:"requestId,omitempty"`
}

func tracedOf(t *engine.Trace) traced {
	e := traced{ID: t.ID, Op: t.Op, Status: "ok", Error: t.Error, User: t.User, Start: t.Start, Duration: t.Duration, Request: t.Request}
	if t.Error != "" {
		e.Status = "failed"
	}
	return e
}

// fits reports whether a trace is one of those asked for.
func (e traced) fits(q url.Values) bool {
	return fit(q, map[string]string{"operation": e.Op, "requestId": e.Request, "status": e.Status, "user": e.User})
}

// listTraces lists the traces that are kept, newest first: those of calls that failed, and of calls that were recorded.
func listTraces(x *rest.Request) error {
	q := x.Query()
	if s := q.Get("status"); s != "" && s != "ok" && s != "failed" {
		return fault.Invalid.Errorf("status %q: must be ok or failed", s).In("status")
	}
	most, err := limitOf(q, maxTraces)
	if err != nil {
		return err
	}
	list := []traced{}
	for _, t := range x.Engine.Traces().Recent() {
		if e := tracedOf(t); len(list) < most && x.SeesTrace(t) && e.fits(q) {
			list = append(list, e)
		}
	}
	return x.JSON(http.StatusOK, map[string]any{"entity-type": "traces", "entries": list})
}

// readTrace shows the trace of an earlier call.
func readTrace(x *rest.Request) error {
	id, err := x.Param("trace")
	if err != nil {
		return err
	}
	t := x.Engine.Traces().Find(id)
	if t == nil || !x.SeesTrace(t) {
		return fault.NotFound.Errorf("trace %s", id)
	}
	return x.JSON(http.StatusOK, t)
}
