package automation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// maxRuns is how many runs that have ended a list has unless it is asked for fewer.
const maxRuns = 100

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
// those that have ended newest first.
func listRuns(x *rest.Request) error {
	switch s := x.Query().Get("state"); s {
	case "", engine.RunRuns:
		return listRunning(x)
	case engine.RunDone, engine.RunFailed, engine.RunStopped:
		return listEnded(x, s)
	default:
		return fault.Invalid.Errorf("state %q: must be %s, %s, %s or %s", s, engine.RunRuns, engine.RunDone, engine.RunFailed, engine.RunStopped).In("state")
	}
}

func listRunning(x *rest.Request) error {
	q, list := x.Query(), []engine.ShownRun{}
	elsewhere, err := x.Engine.Elsewhere(x.HTTP.Context(), x.As)
	if err != nil {
		return err
	}
	for _, l := range engine.InOrder(x.Engine.Running(x.As), elsewhere) {
		if fit(q, map[string]string{"operation": l.Op, "requestId": l.Request, "user": l.User}) {
			list = append(list, l.Shown())
		}
	}
	return x.JSON(http.StatusOK, map[string]any{"entity-type": "runs", "entries": list})
}

func listEnded(x *rest.Request, state string) error {
	q := x.Query()
	f := engine.EndedFilter{State: state, Op: q.Get("operation"), User: q.Get("user"), Code: q.Get("code"), Request: q.Get("requestId"), Before: q.Get("before")}
	var err error
	if f.Limit, err = limitOf(q, maxRuns); err != nil {
		return err
	}
	if text := q.Get("since"); text != "" {
		if f.Since, err = time.Parse(time.RFC3339, text); err != nil {
			return fault.Invalid.Errorf("since %q: must be a time such as 2006-01-02T15:04:05Z", text).In("since")
		}
	}
	found, more, err := x.Engine.EndedRuns(x.HTTP.Context(), x.As, f)
	if err != nil {
		return err
	}
	list := make([]engine.ShownRun, len(found))
	for i := range found {
		list[i] = engine.ShowRun(&found[i])
	}
	out := map[string]any{"entity-type": "runs", "entries": list}
	if more {
		out["before"] = found[len(found)-1].ID
	}
	return x.JSON(http.StatusOK, out)
}

// readRun shows a call that runs, or one that has ended with all that is kept of it.
func readRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	if l, err := x.Engine.RunningCall(x.As, id); err == nil {
		return x.JSON(http.StatusOK, l.Shown())
	}
	f, d, err := x.Engine.EndedRun(x.HTTP.Context(), x.As, id)
	if err == nil {
		shown := engine.ShowDetails(&f, &d)
		if shown.Parts, err = x.Engine.RunParts(x.HTTP.Context(), x.As, id); err != nil {
			return err
		}
		return x.JSON(http.StatusOK, shown)
	}
	elsewhere, failed := x.Engine.Elsewhere(x.HTTP.Context(), x.As)
	if failed != nil {
		return failed
	}
	if l := engine.FindLive(elsewhere, id); l != nil {
		return x.JSON(http.StatusOK, l.Shown())
	}
	return err
}

// endRun ends a call that runs, on any server.
func endRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	if err := x.EndRun(id); err != nil {
		return err
	}
	return x.NoContent()
}

// retryRun makes a run again, with the rights of the caller, and answers as the call would have: of the version that the
// chain or script had or of any other, which only administrators run if it is not the latest, or of the latest. What the body
// gives takes the place of what was asked.
func retryRun(x *rest.Request) error {
	id, err := x.Param("run")
	if err != nil {
		return err
	}
	version := x.Query().Get("version")
	number, err := strconv.ParseInt(version, 10, 64)
	if (err != nil || number < 1) && !slices.Contains([]string{"", "same", "latest"}, version) {
		return fault.Invalid.Errorf("version %q: must be same, latest or the number of a version", version).In("version")
	}
	given, err := readInvoked(x)
	if err != nil {
		return err
	}
	again, err := x.Engine.Repeat(x.HTTP.Context(), x.As, id, &engine.Repeated{Input: given.Input, Params: given.Params, Context: given.Context}, false)
	if err != nil {
		return err
	}
	if err := x.Enter(again.Repository); err != nil {
		return err
	}
	body, err := json.Marshal(invoked{again.Input, again.Params, again.Context})
	if err != nil {
		return err
	}
	call, re, err := x.CallAgain(again.Op, body)
	if err != nil {
		return err
	}
	call.Asked.Repeats = id
	switch {
	case number > 0:
		call.Version = number
	case version != "latest":
		call.Version = again.Version
	}
	x.Writer.Header().Set(repeatsHeader, id)
	return x.Run(call, re)
}

// readInvoked reads what a body asks; there need not be one.
func readInvoked(x *rest.Request) (in invoked, err error) {
	if x.Bodyless() {
		return in, nil
	}
	if _, _, err := x.Media(); err != nil {
		return in, err
	}
	body, err := x.ReadBody()
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return in, err
	}
	if err := rest.CheckJSON(body); err != nil {
		return in, err
	}
	err = rest.Members(body, func(name string, value json.RawMessage) error {
		at := in.member(name)
		if at == nil {
			return fault.Invalid.Errorf("body: has no member %q", name).In(name)
		}
		*at = value
		return nil
	})
	return in, err
}

// member is where the value of a member is; nil if there is no such member.
func (in *invoked) member(name string) *json.RawMessage {
	return map[string]*json.RawMessage{"input": &in.Input, "params": &in.Params, "context": &in.Context}[name]
}

// repeatsHeader names the run that a call makes again.
const repeatsHeader = "Catena-Repeats"

// invoked is the body of a call.
type invoked struct {
	Input   json.RawMessage `json:"input,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Context json.RawMessage `json:"context,omitempty"`
}
