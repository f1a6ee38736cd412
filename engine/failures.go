package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/history"
)

// Asked is what a caller sent besides RawParams, as it came.
type Asked struct {
	Input   json.RawMessage // JSON; nil: none, or found otherwise
	Context json.RawMessage // a JSON object; nil: none
	Repeats string          // id of the failed run that the call makes again
}

// failures bounds how often failed runs are written.
type failures struct {
	writing sync.Mutex // one after the other: each looks at what is there
	rate
}

// rate bounds what is kept of an owner in a minute.
type rate struct {
	mu     sync.Mutex
	minute time.Time
	counts map[string]int // of this minute, by owner
}

// admit reports whether one more of an owner is to be kept.
func (f *rate) admit(owner string, most int, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts == nil || now.Sub(f.minute) >= time.Minute {
		f.minute, f.counts = now, map[string]int{}
	}
	f.counts[owner]++
	return f.counts[owner] <= most
}

// maxFailureError bounds the message of a failed run that is kept.
const maxFailureError = 2000

// keepTime bounds how long a caller waits for the store to keep its failed run.
const keepTime = 5 * time.Second

// keepFailure keeps a call that failed if a caller from outside made it in earnest, was allowed to, and the operation
// began: calls of unknown operations, or without the permission, do not count as runs. Anyone who may only read leaves nothing behind.
func (e *Engine) keepFailure(r *running, err error) {
	call := &r.args
	if call.Asked == nil || call.DryRun || call.As.ReadOnly || r.ops == 0 || fault.Is(err, fault.Denied) || namesNothing(err) {
		return
	}
	owner := r.whose()
	if !e.failures.admit(owner.Identity(), e.limits.FailedRate, time.Now()) {
		return
	}
	f := r.ended()
	f.Internal, f.Code, f.Error, f.Expires = fault.Is(err, fault.Internal), fault.Word(err), r.shown(err.Error(), maxFailureError), e.now().Add(e.limits.KeepFailed).UTC()
	d := r.asking().details(r.res.Trace, e.limits.FailedSize)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.end.Context), keepTime)
	defer cancel()
	e.failures.writing.Lock()
	defer e.failures.writing.Unlock()
	err = e.repo.Update(ctx, e.System(), func(tx *storage.Tx) error {
		return history.KeepFailed(tx, f, d, history.Limits{All: e.limits.Failed, User: e.limits.UserFailed})
	})
	if err != nil {
		e.log.Warn("a failed run is not kept", "run", f.ID, "operation", f.Op, "error", err)
	}
}

// namesNothing reports whether a call failed because its input, or what a parameter names, is not there.
func namesNothing(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Stage == StageInput && fault.Is(err, fault.NotFound)
}

// reference is an input that was found as it is named in JSON; ok is false for files, and what has no name.
func reference(in any) (raw json.RawMessage, ok bool) {
	var name string
	switch in := in.(type) {
	case nil:
		return nil, true
	case *storage.Doc:
		name = "doc:" + in.ID()
	case storage.Docs:
		ids := make([]string, len(in))
		for i, d := range in {
			ids[i] = d.ID()
		}
		name = "docs:" + strings.Join(ids, ",")
	case string:
		name = in
	case storage.Ref:
		name = string(in)
	default:
		return nil, false
	}
	raw, err := json.Marshal(name)
	return raw, err == nil
}

// withoutSecrets takes the secrets out of JSON and returns where they were; d is the operation whose parameters it is,
// nil: it is anything else.
func (s *Set) withoutSecrets(d *Def, raw json.RawMessage, at string) (json.RawMessage, []string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, []string{at}
	}
	left := s.strip(d, v, at, nil)
	if left == nil {
		return bytes.Clone(raw), nil
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, []string{at}
	}
	return out, left
}

// older returns the operation of a call as an older version of its text says, in a set with it. What was replaced may
// have been so for a reason: administrators alone run it.
func (e *Engine) older(ctx context.Context, set *Set, d *Def, as *Principal, version int64) (*Set, *Def, error) {
	switch {
	case d.AtVersion == nil:
		return nil, nil, fault.NotFound.Errorf("operation %s version %d", d.Name, version)
	case as == nil || !as.Admin:
		return nil, nil, fault.Denied.Errorf("operation %s version %d: is no longer deployed and only for administrators; the latest version is %d", d.Name, version, d.Version)
	}
	err := e.repo.View(ctx, e.System(), func(tx *storage.Tx) error {
		c := &Ctx{Context: ctx, Tx: tx, As: e.System(), Now: tx.Now(), Log: e.log, run: &running{e: e, set: set}}
		var err error
		set, d, err = c.atVersion(set, d, version)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return set, d, nil
}
