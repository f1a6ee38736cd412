package automation

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// maxRuns is how many failed runs a list has unless it is asked for fewer.
const maxRuns = 100

// shownRun is a run as lists show it.
type shownRun struct {
	ID         string        `json:"id"`
	State      string        `json:"state"` // running or failed
	Op         string        `json:"op"`
	Version    int64         `json:"version,omitempty"` // of the chain or script
	User       string        `json:"user"`
	UserID     int64         `json:"userId,omitempty"`
	EntryPoint string        `json:"door"` // where it came from: rest, mcp, cli, listener, server
	Repository string        `json:"repository"`
	Request    string        `json:"requestId,omitempty"`
	Remote     netip.Addr    `json:"remote,omitzero"`   // address of the client
	Repeats    string        `json:"repeats,omitempty"` // id of the run that it makes again
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration"` // in nanoseconds, until now or until it failed
	Code       string        `json:"code,omitempty"`
	Error      string        `json:"error,omitempty"`

	*askedRun
}

// askedRun is what only a failed run by itself shows.
type askedRun struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
	Left    []string        `json:"left,omitempty"` // what was asked and is not kept
	Trace   json.RawMessage `json:"trace,omitempty"`
}

func runningRun(l engine.Live) shownRun {
	return shownRun{
		ID: l.ID, State: rest.RunRuns, Op: l.Op, User: l.User, EntryPoint: l.EntryPoint.String(), Repository: l.Repository,
		Request: l.Request, Remote: l.Remote, Repeats: l.Repeats, Start: l.Start.UTC(), Duration: time.Since(l.Start),
	}
}

func failedRun(f engine.FailedRun) shownRun {
	return shownRun{
		ID: f.ID, State: rest.RunFailed, Op: f.Op, Version: f.Version, User: f.Owner, UserID: f.OwnerID, EntryPoint: f.EntryPoint, Repository: f.Repository,
		Request: f.Request, Remote: f.Remote, Repeats: f.Repeats, Start: f.Start, Duration: f.Duration, Code: f.Code, Error: f.Error,
	}
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

// limitOf is how many entries of a list are asked for, most if none.
func limitOf(q url.Values, most int) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return most, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.Invalid.Errorf("limit %q: must be a number greater than 0", text).In("limit")
	}
	return n, nil
}

// listRuns lists runs: all of them for administrators, their own for others. Those that run stand oldest first,
// those that failed newest first.
func listRuns(x *rest.Request) error {
	switch s := x.Query().Get("state"); s {
	case "", rest.RunRuns:
		return listRunning(x)
	case rest.RunFailed:
		return listFailed(x)
	default:
		return fault.Invalid.Errorf("state %q: must be %s or %s", s, rest.RunRuns, rest.RunFailed).In("state")
	}
}

func listRunning(x *rest.Request) error {
	q, list := x.Query(), []shownRun{}
	for _, l := range x.Engine.Running(x.As) {
		if fit(q, map[string]string{"operation": l.Op, "requestId": l.Request, "user": l.User}) {
			list = append(list, runningRun(l))
		}
	}
	return x.JSON(http.StatusOK, map[string]any{"entity-type": "runs", "entries": list})
}

func listFailed(x *rest.Request) error {
	q := x.Query()
	f := engine.FailedFilter{Op: q.Get("operation"), User: q.Get("user"), Code: q.Get("code"), Request: q.Get("requestId"), Before: q.Get("before")}
	var err error
	if f.Limit, err = limitOf(q, maxRuns); err != nil {
		return err
	}
	if text := q.Get("since"); text != "" {
		if f.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return fault.Invalid.Errorf("since %q: must be a time such as 2006-01-02T15:04:05Z", text).In("since")
		}
	}
	found, more, err := x.Engine.FailedRuns(x.HTTP.Context(), x.As, f)
	if err != nil {
		return err
	}
	list := make([]shownRun, len(found))
	for i, f := range found {
		list[i] = failedRun(f)
	}
	out := map[string]any{"entity-type": "runs", "entries": list}
	if more {
		out["before"] = found[len(found)-1].ID
	}
	return x.JSON(http.StatusOK, out)
}

// readRun shows a call that runs, or a failed one with all that is kept of it.
func readRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	if l, err := x.Engine.RunningCall(x.As, id); err == nil {
		return x.JSON(http.StatusOK, runningRun(l))
	}
	f, d, err := x.Engine.FailedRun(x.HTTP.Context(), x.As, id)
	if err != nil {
		return err
	}
	r := failedRun(f)
	r.askedRun = &askedRun{Input: d.Input, Params: d.Params, Context: d.Context, Left: d.Left, Trace: d.Trace}
	return x.JSON(http.StatusOK, r)
}

// endRun ends a call that runs.
func endRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	if err := x.Engine.EndRun(x.As, id); err != nil {
		return err
	}
	return x.NoContent()
}

// retryRun makes a failed run again, with the rights of the caller, and answers as the call would have: of the
// version that the chain or script had, which only administrators run once there is another, or of the latest.
func retryRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	version := x.Query().Get("version")
	if !slices.Contains([]string{"", "same", "latest"}, version) {
		return fault.Invalid.Errorf("version %q: must be same or latest", version).In("version")
	}
	f, d, err := x.Engine.FailedRun(x.HTTP.Context(), x.As, id)
	switch {
	case err != nil:
		return err
	case len(d.Left) > 0:
		return fault.Conflict.Errorf("run %s: cannot be repeated, since %s was not stored", id, strings.Join(d.Left, ", ")).WithCode(fault.CodeRunIncomplete)
	case f.EntryPoint == engine.Listener.String():
		return fault.Conflict.Errorf("run %s: was started by an event; its job retries by itself", id).WithCode(fault.CodeRunIncomplete)
	}
	if err := x.Enter(f.Repository); err != nil {
		return err
	}
	body, err := json.Marshal(invoked{d.Input, d.Params, d.Context})
	if err != nil {
		return err
	}
	call, re, err := x.CallAgain(f.Op, body)
	if err != nil {
		return err
	}
	call.Asked.Repeats = id
	if version != "latest" {
		call.Version = f.Version
	}
	x.Writer.Header().Set(repeatsHeader, id)
	return x.Run(call, re)
}

// repeatsHeader names the run that a call makes again.
const repeatsHeader = "Catena-Repeats"

// invoked is the body of a call.
type invoked struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
}
