package rest

import (
	"net/http"
	"net/url"
	"time"

	"catena/engine"
)

// shownRun is a run as lists show it.
type shownRun struct {
	ID         string        `json:"id"`
	State      string        `json:"state"` // running
	Op         string        `json:"op"`
	User       string        `json:"user"`
	Door       string        `json:"door"` // where it came from: rest, mcp, cli, listener, server
	Repository string        `json:"repository"`
	Request    string        `json:"requestId,omitempty"`
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration"` // in nanoseconds, until now
}

func runningRun(l engine.Live) shownRun {
	return shownRun{
		ID: l.ID, State: "running", Op: l.Op, User: l.User, Door: l.Door.String(), Repository: l.Repository,
		Request: l.Request, Start: l.Start.UTC(), Duration: time.Since(l.Start),
	}
}

// fits reports whether a run is one of those asked for.
func (r shownRun) fits(q url.Values) bool {
	return fit(q, map[string]string{"operation": r.Op, "requestId": r.Request, "user": r.User})
}

// fit reports whether every member that a query names has the value it gives.
func fit(q url.Values, members map[string]string) bool {
	for name, v := range members {
		if want := q.Get(name); want != "" && want != v {
			return false
		}
	}
	return true
}

// listRuns lists the calls that run, the oldest first: all of them for administrators, their own for others.
func listRuns(x *exchange) error {
	q, list := x.query(), []shownRun{}
	for _, l := range x.engine.Running(x.as) {
		if r := runningRun(l); r.fits(q) {
			list = append(list, r)
		}
	}
	return x.json(http.StatusOK, map[string]any{"entity-type": "runs", "entries": list})
}

// readRun shows a call that runs.
func readRun(x *exchange) error {
	id, err := x.param("run")
	if err != nil {
		return err
	}
	l, err := x.engine.RunningCall(x.as, id)
	if err != nil {
		return err
	}
	return x.json(http.StatusOK, runningRun(l))
}

// endRun ends a call that runs.
func endRun(x *exchange) error {
	id, err := x.param("run")
	if err != nil {
		return err
	}
	if err := x.engine.EndRun(x.as, id); err != nil {
		return err
	}
	return x.noContent()
}
