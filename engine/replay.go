package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"catena/storage"
	"catena/storage/fault"
)

// Durable is what is kept of a result so that another process can show it later: documents as references, which are read
// again.
type Durable struct {
	Value json.RawMessage // nil: the bytes of the answer are kept instead, for nothing in it is read again
	On    json.RawMessage // what the call was made on, as far as it names documents
	Docs  []string        // ids of documents that the bytes show
}

// Refers reports whether a result is kept as references: it holds documents, all of which can be found again as they are.
func (c *Ctx) Refers(v any) bool {
	if c.DryRun() { // what a dry run has made or changed is nowhere else
		return false
	}
	var s storing
	_, err := s.value(v, 0)
	return err == nil && len(s.docs) > 0 && !s.bound
}

// Durable makes what is kept of a result of a call.
func (r *Result) Durable(dry bool) Durable {
	var s, in storing
	v, err := s.value(r.Value, 0)
	d := Durable{}
	if on := in.input(r.Input); on != nil {
		d.On, _ = json.Marshal(on)
	}
	if r.Replayed || len(s.docs) == 0 {
		return d
	}
	if err != nil || s.bound || dry {
		d.Docs = s.docs
		return d
	}
	if d.Value, err = json.Marshal(v); err != nil {
		d.Docs = s.docs
	}
	return d
}

// Again shows the result of an earlier call to the caller: its documents are read and encoded again.
// Documents that may no longer be read are left out of lists; it is an error if one is the result itself,
// or is what the call was made on.
func (e *Engine) Again(ctx context.Context, call Call, was Durable) (*Result, error) {
	set := e.Set()
	d, ok := set.Op(call.Op)
	if !ok || !d.Callers.allows(call.As, call.EntryPoint) {
		return nil, set.Missing(call.Op, call.As, call.EntryPoint)
	}
	p, err := set.Plan(nil, "", PlanOptions{Name: call.Op})
	if err != nil {
		return nil, err
	}
	call.Params, call.RawParams, call.Vars, call.Trace = nil, nil, nil, false
	call.Input = Lazy(func(c *Ctx) (any, error) {
		if err := c.stillRead(d, was.On); err != nil {
			return nil, err
		}
		for _, id := range was.Docs {
			if err := c.readableID(id); err != nil {
				return nil, err
			}
		}
		return c.restored(was.Value)
	})
	return e.RunPlan(ctx, p, call)
}

// stillRead refuses what a call was made on if it has documents that exist but may no longer be read.
func (c *Ctx) stillRead(d *Def, on json.RawMessage) error {
	if on == nil {
		return nil
	}
	in, err := c.everywhere().restored(on)
	if hidden(err) {
		return nil // the call itself may have removed it
	}
	if err != nil {
		return err
	}
	v, err := d.choose(in)
	if err == nil && v.in != kindOf(in) && (v.in == kDoc || v.in == kDocs) {
		in, err = c.everywhere().adapt(d, v, in)
	}
	if err != nil {
		return unlessGone(err)
	}
	return c.readable(in)
}

// everywhere returns the context for the server itself, which tells documents that are gone from those that the caller
// may not read.
func (c *Ctx) everywhere() *Ctx {
	all := *c
	all.Tx = c.Tx.As(c.Tx.Repo().System())
	return &all
}

// unlessGone drops the error that a document does not exist: the call itself may have removed it.
func unlessGone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// readableID refuses a document that exists but may not be read.
func (c *Ctx) readableID(id string) error {
	if _, err := c.everywhere().Tx.Doc(storage.Ref(id)); err != nil {
		return unlessGone(err)
	}
	_, err := c.Tx.Doc(storage.Ref(id))
	return err
}

// readable refuses a value with such a document.
func (c *Ctx) readable(v any) error {
	var items []any
	switch v := v.(type) {
	case *storage.Doc:
		return c.readableID(v.ID())
	case storage.Docs:
		items = List(v)
	case *storage.Page:
		items = List(v.Docs)
	case []any:
		items = v
	}
	for _, item := range items {
		if err := c.readable(item); err != nil {
			return err
		}
	}
	return nil
}

// again returns a value as it may be read now.
func (c *Ctx) again(v any) (any, error) {
	switch v := v.(type) {
	case *storage.Doc:
		return c.docAgain(v)
	case storage.Docs:
		return eachAgain(c, v)
	case *storage.Page:
		docs, err := eachAgain(c, v.Docs)
		page := *v
		page.Docs = docs
		return &page, err
	case []any:
		return eachAgain(c, v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			now, err := c.again(item)
			if err != nil && !hidden(err) {
				return nil, err
			}
			out[name] = now
		}
		return out, nil
	case Value:
		now, err := c.again(v.V)
		return Value{V: now, Word: v.Word}, err
	}
	return v, nil
}

// docAgain reads a document again; one that a dry run made or changed stays as it was then.
func (c *Ctx) docAgain(d *storage.Doc) (any, error) {
	if !d.Saved() {
		return d, nil
	}
	if err := c.readable(d); err != nil {
		return nil, err
	}
	if c.DryRun() {
		return d, nil
	}
	now, err := c.Tx.Doc(storage.Ref(d.ID()))
	if err != nil {
		return nil, err
	}
	return now, nil
}

// eachAgain leaves out of a list what may not be read any longer.
func eachAgain[L ~[]T, T any](c *Ctx, list L) (L, error) {
	out := make(L, 0, len(list))
	for _, item := range list {
		now, err := c.again(item)
		if hidden(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		same, _ := now.(T)
		out = append(out, same)
	}
	return out, nil
}

// hidden reports whether an error says that a document is not there for the caller.
func hidden(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) }

// kept is the answer of a call that had an idempotency key, as it is stored.
//
// It is a row of the table "idempotency", written by the transaction of the call. The sweep removes it after
// Expires.
type kept struct {
	Fingerprint string    `json:"fingerprint"`
	Body        []byte    `json:"body,omitempty"`
	Void        bool      `json:"void,omitempty"`
	Lost        bool      `json:"lost,omitempty"` // too large, or too secret, to keep
	Expires     time.Time `json:"expires"`
}

// keyed reports whether an idempotency key counts for the call.
func (r *running) keyed() bool {
	// Repeating a call that only reads is harmless, and its answer would take room; a dry run leaves nothing
	// behind.
	return r.call.IdempotencyKey != "" && r.def.Effect == Writes && !r.call.DryRun
}

// rowKey is the key of a call's row: keys of different users, or scopes, never meet.
func (c *Call) rowKey() string {
	h := sha256.New()
	for _, part := range []string{c.As.Identity(), c.KeyScope, c.IdempotencyKey} {
		h.Write([]byte(part))
		// The zero byte separates the parts: without it, "ab" + "c" and "a" + "bc" would be one key.
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil))
}

// claim takes the key for the time of the call.
func (e *Engine) claim(call *Call) (release func(), err error) {
	key := call.rowKey()
	// Two processes that share a store do not see each other here. There the second one loses the race for
	// the row, runs again, and finds the stored answer.
	if _, taken := e.busy.LoadOrStore(key, true); taken {
		return nil, fault.Conflict.Errorf("idempotency: a request with this key is in progress").WithCode(fault.CodeIdempotencyInFlight).After(time.Second)
	}
	return func() { e.busy.Delete(key) }, nil
}

// replay takes the answer of an earlier call with the key, if there is one.
func (r *running) replay(tx *storage.Tx) (bool, error) {
	var k kept
	found, err := tx.Table("idempotency").Get(r.call.rowKey(), &k)
	if err != nil || !found || !r.ctx.Now.Before(k.Expires) {
		return false, err
	}
	switch {
	case k.Fingerprint != r.call.Fingerprint:
		return false, fault.Invalid.Errorf("idempotency: the key was used for a different request").WithCode(fault.CodeIdempotencyMismatch)
	// The effect is there but the answer is not. Running the call again would do it twice, so the client has
	// to look.
	case k.Lost:
		return false, fault.Conflict.Errorf("idempotency: the request was executed, but its response was not stored").
			WithCode(fault.CodeIdempotencyAnswerLost)
	}
	r.res.Body, r.res.Void, r.res.Value, r.res.Replayed = k.Body, k.Void, nil, true
	return true, nil
}

// keep stores the answer in the transaction that made it.
func (r *running) keep(tx *storage.Tx) error {
	k := kept{Fingerprint: r.call.Fingerprint, Void: r.res.Void, Body: r.res.Body, Expires: r.ctx.Now.Add(storage.IdempotencyTime)}
	// A secret is shown once: a stored copy could be read by anyone who learns the key.
	if len(k.Body) > r.e.limits.Replies || r.def.Secret {
		k.Body, k.Lost = nil, true
	}
	return tx.Table("idempotency").Put(r.call.rowKey(), k)
}

// Repeated is what is asked when a run is made again. Before, it is what is asked differently: what is nil stays as it was.
type Repeated struct {
	Op, Repository string
	Version        int64 // that the run had
	Input          json.RawMessage
	Params         json.RawMessage
	Context        json.RawMessage
}

// Repeat returns what a run that has ended asked, with what is given in its place. With merge, given parameters are put among those
// of the run, which null removes; otherwise they replace all of them. What was not stored must be given.
func (e *Engine) Repeat(ctx context.Context, as *Principal, id string, given *Repeated, merge bool) (*Repeated, error) {
	run, d, err := e.EndedRun(ctx, as, id)
	if err != nil {
		return nil, err
	}
	out := &Repeated{Op: run.Op, Repository: run.Repository, Version: run.Version, Input: d.Input, Params: d.Params, Context: d.Context}
	params := given.Params
	if merge && len(params) > 0 {
		if params, err = merged(out.Params, params, func(name string) { present(&d, "params/"+name) }); err != nil {
			return nil, err
		}
		out.Params = params
	} else {
		replace(&d, &out.Params, params, "params")
	}
	replace(&d, &out.Input, given.Input, "input")
	replace(&d, &out.Context, given.Context, "context")
	switch {
	case run.EntryPoint == Listener.String():
		return nil, fault.Conflict.Errorf("run %s: was started by an event or a schedule; its job retries by itself, and Schedule.RunNow runs a schedule", id).WithCode(fault.CodeRunIncomplete)
	case len(d.Left) > 0:
		return nil, fault.Conflict.Errorf("run %s: cannot be repeated, since %s was not stored; give it", id, strings.Join(d.Left, ", ")).WithCode(fault.CodeRunIncomplete)
	}
	return out, nil
}

// present notes that something is no longer missing.
func present(d *EndedDetails, name string) {
	d.Left = slices.DeleteFunc(d.Left, func(left string) bool { return left == name || strings.HasPrefix(left, name+"/") })
}

// replace replaces what was asked by what is given, if anything is.
func replace(d *EndedDetails, old *json.RawMessage, given json.RawMessage, name string) {
	if len(given) > 0 {
		*old = given
		present(d, name)
	}
}

// merged puts the members of an object into another one; null removes a member.
func merged(old, given json.RawMessage, put func(name string)) (json.RawMessage, error) {
	all, next := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if len(old) > 0 {
		if err := json.Unmarshal(old, &all); err != nil {
			return nil, fault.Internal.Errorf("run: params: %w", err)
		}
	}
	if err := json.Unmarshal(given, &next); err != nil {
		return nil, fault.Invalid.Errorf("params: must be an object").In("params")
	}
	maps.Copy(all, next)
	for name, v := range next {
		put(name)
		if string(v) == "null" {
			delete(all, name)
		}
	}
	return json.Marshal(all)
}
