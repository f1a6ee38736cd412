package engine

import (
	"encoding/json"
	"net/netip"
	"time"
)

// ShownRun is a run as addresses, operations and pages show it.
type ShownRun struct {
	ID         string        `json:"id"`
	State      string        `json:"state"` // running, waiting, done or failed
	Op         string        `json:"op"`
	Version    int64         `json:"version,omitempty"` // of the chain or script
	User       string        `json:"user"`
	UserID     int64         `json:"userId,omitempty"`
	EntryPoint string        `json:"door,omitempty"` // where it came from: rest, mcp, cli, listener, server
	Repository string        `json:"repository,omitempty"`
	Request    string        `json:"requestId,omitempty"`
	Remote     netip.Addr    `json:"remote,omitzero"`   // address of the client
	Repeats    string        `json:"repeats,omitempty"` // id of the run that it makes again
	Start      time.Time     `json:"start"`
	Duration   time.Duration `json:"duration"` // in nanoseconds, until now or until it ended
	Code       string        `json:"code,omitempty"`
	Error      string        `json:"error,omitempty"`

	// Of a chain that waits: for what, until when, and at which line.
	For   string    `json:"for,omitempty"`
	Event string    `json:"event,omitempty"`
	Until time.Time `json:"until,omitzero"`
	Line  int       `json:"line,omitempty"`

	*ShownDetails
}

// ShownDetails are what only a run by itself shows, once it has ended.
type ShownDetails struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
	Left    []string        `json:"left,omitempty"` // what was asked and is not kept
	Trace   json.RawMessage `json:"trace,omitempty"`
}

// Shown is a call that runs as it is shown.
func (l *Live) Shown() ShownRun {
	return ShownRun{
		ID: l.ID, State: RunRuns, Op: l.Op, User: l.User, EntryPoint: l.EntryPoint.String(), Repository: l.Repository,
		Request: l.Request, Remote: l.Remote, Repeats: l.Repeats, Start: l.Start.UTC(), Duration: time.Since(l.Start),
	}
}

// ShowRun is a run that has ended as it is shown.
func ShowRun(r *EndedRun) ShownRun {
	return ShownRun{
		ID: r.ID, State: r.State(), Op: r.Op, Version: r.Version, User: r.Owner, UserID: r.OwnerID, EntryPoint: r.EntryPoint, Repository: r.Repository,
		Request: r.Request, Remote: r.Remote, Repeats: r.Repeats, Start: r.Start, Duration: r.Duration, Code: r.Code, Error: r.Error,
	}
}

// ShowDetails is such a run by itself.
func ShowDetails(r *EndedRun, d *EndedDetails) ShownRun {
	out := ShowRun(r)
	out.ShownDetails = &ShownDetails{Input: d.Input, Params: d.Params, Context: d.Context, Left: d.Left, Trace: d.Trace}
	return out
}
