package rest

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"catena/engine"
	"catena/engine/entity"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/run"
)

// askAgain is after how many seconds a client is to ask for what was begun and is not over.
const askAgain = "1"

// shownAs is how the result of a run is shown, as the request that began it has asked.
type shownAs struct {
	Options *entity.Options `json:",omitempty"`
	Status  int             `json:",omitempty"`
	Base    string          `json:",omitempty"`
	Tagged  bool            `json:",omitempty"`
	Inline  bool            `json:",omitempty"`
	Bare    bool            `json:",omitempty"`
	Void    bool            `json:",omitempty"`
}

func (e *encoder) shownAs() (json.RawMessage, error) {
	return json.Marshal(shownAs{e.re.Options, e.re.Status, e.re.base, e.re.Tagged, e.re.Inline, e.re.Bare, e.void})
}

// encoderOf is what encodes the result of a run.
func (x *Request) encoderOf(r *run.Run) (*encoder, error) {
	var s shownAs
	if err := json.Unmarshal(r.Reply, &s); err != nil {
		return nil, fault.Internal.Errorf("asynchronous run %s: %w", r.ID, err)
	}
	re := Reply{Status: cmp.Or(s.Status, http.StatusOK), Options: s.Options, Tagged: s.Tagged, Inline: s.Inline, Bare: s.Bare, base: s.Base}
	return &encoder{re: re, void: s.Void, limit: int64(x.Engine.Limits().Replies)}, nil
}

// Begin starts a call of an operation in the background, and answers where its status is.
func (x *Request) Begin(name string, call engine.Call, re Reply) error {
	re.base = x.Base()
	b := &begun{engine: x.Engine, encoder: new(encoder)}
	x.complete(b.encoder, &call, re)
	reply, err := b.encoder.shownAs()
	if err != nil {
		return err
	}
	b.row = run.Run{Owned: storage.OwnedBy(x.As), Op: name, Repository: x.Engine.Repo().Name(), ReadOnly: x.As.ReadOnly, Reply: reply}
	id, err := x.Server.runs.begin(x.HTTP.Context(), b, call)
	if err != nil {
		return err
	}
	if x.PrefersAsync() {
		x.Writer.Header().Set("Preference-Applied", "respond-async")
	}
	x.Write(&Answer{Status: http.StatusAccepted, Location: x.runAddress(id) + "/status"})
	return nil
}

// PrefersAsync reports whether the client would rather not wait for the end of what it asks (RFC 7240).
func (x *Request) PrefersAsync() bool {
	for _, list := range x.HTTP.Header["Prefer"] {
		for p := range strings.SplitSeq(list, ",") {
			p, _, _ = strings.Cut(p, ";")
			if strings.EqualFold(strings.TrimSpace(p), "respond-async") {
				return true
			}
		}
	}
	return false
}

// absolute completes the address of an object that leads to its result elsewhere.
func absolute(v any, base string) any {
	m, _ := v.(map[string]any)
	at, ok := m["url"].(string)
	if u, err := url.Parse(at); !ok || err != nil || u.IsAbs() || u.Host != "" {
		return v
	}
	m = maps.Clone(m)
	m["url"] = base + "/" + strings.TrimPrefix(at, "/")
	return m
}

func (x *Request) runAddress(id string) string {
	return x.Base() + "/api/v1/automation/" + x.Segments.Get("op") + "/@async/" + id
}

// bulkStatus is the operation that tells how far a bulk command is.
const bulkStatus = "Bulk.Get"

func (x *Request) commandParams(r *run.Run) Values {
	return Values{"commandId": r.Command, "base": x.Base()}
}

// asyncRun returns the run that the address names, and whether it has ended: a run that submitted a bulk command has ended when
// the command is.
func (x *Request) asyncRun() (r *run.Run, over bool, err error) {
	name, err := x.Param("op")
	if err != nil {
		return nil, false, err
	}
	id := x.Segments.Get("run")
	r, err = x.Server.runs.find(x.HTTP.Context(), x.As, id)
	if err == nil && r.Op != name {
		err = fault.NotFound.Errorf("asynchronous run %s", id)
	}
	if err != nil {
		return nil, false, err
	}
	if over = r.Over(); over && r.Command != "" && r.Failure == nil {
		over, err = x.commandOver(r)
	}
	return r, over, err
}

// commandOver reports whether the bulk command of a run has ended.
func (x *Request) commandOver(r *run.Run) (bool, error) {
	v, err := x.Value(engine.Call{Op: bulkStatus, Params: x.commandParams(r)})
	m, _ := v.(map[string]any)
	return m["state"] == "COMPLETED" || m["state"] == "ABORTED", err
}

// AsyncStatus says whether a run has ended: then the result is elsewhere.
func AsyncStatus(x *Request) error {
	r, over, err := x.asyncRun()
	if err != nil {
		return err
	}
	if over {
		x.Write(&Answer{Status: http.StatusSeeOther, Location: x.runAddress(r.ID)})
		return nil
	}
	x.Writer.Header().Set("Retry-After", askAgain)
	return x.JSON(http.StatusOK, "RUNNING")
}

// AsyncEvents streams the states of a run until it has ended; the last says where its result is.
func AsyncEvents(x *Request) error {
	return x.Stream("run", func() (Progress, error) {
		if err := x.Engine.Stands(x.HTTP.Context(), x.As); err != nil {
			return Progress{}, err
		}
		r, over, err := x.asyncRun()
		if err != nil {
			return Progress{}, err
		}
		now := asyncState{ID: r.ID, Op: r.Op, State: engine.RunRuns}
		if over {
			if now.State, now.Result = "over", x.runAddress(r.ID); r.Failure != nil {
				now.State, now.Code = engine.RunFailed, r.Failure.Word
			}
		}
		body, err := json.Marshal(now)
		return Progress{Mark: now.State, Body: body, Over: over}, err
	})
}

// asyncState is what an event says of an asynchronous run.
type asyncState struct {
	ID     string `json:"id"`
	Op     string `json:"op"`
	State  string `json:"state"` // running, failed or over
	Code   string `json:"code,omitempty"`
	Result string `json:"result,omitempty"` // where it is
}

// AsyncResult answers as the call would have, until the result expires.
func AsyncResult(x *Request) error {
	r, over, err := x.asyncRun()
	if err != nil {
		return err
	}
	if !over {
		x.Writer.Header().Set("Retry-After", askAgain)
		return x.JSON(http.StatusAccepted, "RUNNING")
	}
	if x.HTTP.Method != http.MethodHead {
		if err := x.Server.runs.fetched(x.HTTP.Context(), r); err != nil {
			return err
		}
	}
	if r.Failure != nil {
		p := problem{report: &report{}}
		if err := json.Unmarshal(r.Failure.Problem, &p); err != nil {
			return fault.Internal.Errorf("asynchronous run %s: %w", r.ID, err)
		}
		if !p.HasError {
			p.report = nil
		}
		x.explain(&p, r.Failure.Word, r.Failure.Wait)
		return nil
	}
	a, err := x.answerOf(r)
	if err != nil {
		return err
	}
	x.Write(a)
	return nil
}

// answerOf is the answer of a run that went well, as far as the caller may see it now.
func (x *Request) answerOf(r *run.Run) (*Answer, error) {
	e, err := x.encoderOf(r)
	if err != nil {
		return nil, err
	}
	call := engine.Call{Op: r.Op, As: x.As, EntryPoint: x.EntryPoint(), RequestID: x.ID, Encode: e.encode}
	if r.Command != "" {
		call.Op, call.Params = bulkStatus, x.commandParams(r)
		res, err := x.Engine.Run(x.HTTP.Context(), call)
		if err != nil {
			return nil, err
		}
		return e.answer(res)
	}
	on := x.Engine.Named(r.Repository)
	if on == nil {
		return nil, fault.NotFound.Errorf("repository %s", r.Repository)
	}
	stored, err := x.Server.runs.result(x.HTTP.Context(), x.As, r)
	if err != nil {
		return nil, err
	}
	res, err := on.Again(x.HTTP.Context(), call, engine.Durable{Value: stored.Value, On: stored.On, Docs: stored.Docs})
	switch {
	case err != nil:
		return nil, err
	case stored.Value != nil:
		return e.answer(res)
	case len(stored.Files) > 0:
		return e.answer(&engine.Result{Value: filesOf(stored)})
	case stored.Body == nil:
		return e.answer(&engine.Result{Replayed: true, Void: true})
	}
	return e.replayed(stored.Body)
}

// filesOf is the one file of a result, or all of a list.
func filesOf(res *run.Result) any {
	if !res.List {
		return res.Files[0]
	}
	return engine.Blobs(res.Files)
}

// AsyncAbort stops a run, or forgets one that has ended.
func AsyncAbort(x *Request) error {
	r, over, err := x.asyncRun()
	if err != nil {
		return err
	}
	if !over && r.Command != "" {
		if _, err := x.Value(engine.Call{Op: "Bulk.Abort", Params: x.commandParams(r)}); err != nil {
			return err
		}
	} else if !over {
		if err := x.Engine.EndRun(x.As, r.ID); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if err := x.Server.runs.remove(x.HTTP.Context(), x.As, r); err != nil {
		return err
	}
	return x.NoContent()
}

// EndRun ends a call that runs, here or, if it is an asynchronous run, on another server.
func (x *Request) EndRun(id string) error {
	if err := x.Engine.EndRun(x.As, id); !fault.Is(err, fault.NotFound) {
		return err
	}
	if elsewhere := x.Server.runs.cancel(x.HTTP.Context(), x.As, id); !fault.Is(elsewhere, fault.NotFound) {
		return elsewhere
	}
	return x.Engine.EndElsewhere(x.HTTP.Context(), x.As, id)
}
