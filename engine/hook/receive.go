package hook

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/keyring"
	"catena/storage/outbox"
)

// waiting has a row for each message that was accepted and has not been carried out, which the transaction that does so
// removes: a job may come twice.
const waiting = "hook.waiting"

// RunJob is the kind of jobs that run what a hook names.
const RunJob = "hook.run"

// Arrival is a request to a hook whose body is not read yet.
type Arrival struct {
	As *storage.Principal // who the hook runs as

	hook *Hook
	keys [][]byte
	head http.Header
	now  time.Time
}

// Message is what a request says.
type Message struct {
	Name    string            `json:"name"` // of the hook
	ID      string            `json:"id,omitempty"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Query   map[string]any    `json:"query"`
	Body    any               `json:"body,omitempty"` // JSON, the fields of a form, or text
}

// job is the data of a job.
type job struct {
	Hook    string          `json:"hook"`
	Message json.RawMessage `json:"message"` // a Message
	File    *storage.Blob   `json:"file,omitempty"`
	Runs    string          `json:"runs"` // the id of the job, which is that of its run
}

// Arrive looks up the hook of a request. What can be verified without its body is.
func (h *Hooks) Arrive(ctx context.Context, name string, head http.Header) (*Arrival, error) {
	a := &Arrival{hook: h.find(name), head: head}
	if a.hook == nil || a.hook.Disabled {
		return nil, errUnverified
	}
	err := h.engine.Repo().View(ctx, h.engine.System(), func(tx *storage.Tx) (err error) {
		a.now = tx.Now()
		if a.keys, err = keyring.Hooks.Keys(tx, name); err != nil {
			return err
		}
		a.As, err = engine.RunsAs(tx, a.hook.As)
		return err
	})
	switch {
	case err == nil && !a.hook.signed() && !a.hook.verify(a.keys, head, nil, a.now):
		return nil, errUnverified
	case fault.Is(err, fault.NotFound):
		return nil, fault.Unavailable.Errorf("hook %s: user %s does not exist", name, a.hook.As)
	}
	return a, err
}

// TakesFile reports whether the body is a file. That of one whose sender signs is read as a whole.
func (a *Arrival) TakesFile() bool { return a.hook.File && !a.hook.signed() }

// Verified reports whether the sender has shown already that it knows the secret: with a signature, only its body does.
func (a *Arrival) Verified() bool { return !a.hook.signed() }

// Rate returns under which name the requests of the hook are counted, and how many a minute are accepted; 0: as many as the
// server permits a user.
func (a *Arrival) Rate() (name string, quota int) { return "hook " + a.hook.Name, a.hook.Rate }

// Waits reports whether the sender waits for the result.
func (a *Arrival) Waits() bool { return a.hook.Waits }

// Call returns what carries the request out, or accepts it, and the call that it is part of. file is the body of a hook that
// takes one.
func (a *Arrival) Call(method string, query url.Values, body []byte, file *storage.Blob) (engine.Call, func(c *engine.Ctx) (any, error), error) {
	if a.hook.signed() && !a.hook.verify(a.keys, a.head, body, a.now) {
		return engine.Call{}, nil, errUnverified
	}
	m := Message{Name: a.hook.Name, ID: idOf(a.head), Method: method, Headers: headersOf(a.head), Query: valuesOf(query)}
	typ, _, _ := mime.ParseMediaType(a.head.Get("Content-Type"))
	sum := sha256.Sum256(body)
	print := hex.EncodeToString(sum[:])
	switch {
	case !a.hook.File:
		var err error
		if m.Body, err = parse(typ, body); err != nil {
			return engine.Call{}, nil, err
		}
	case file == nil:
		file = engine.NewBlob(FileName(a.head), typ, body)
	default:
		print = file.Digest
	}
	call := engine.Call{Op: "hook " + a.hook.Name, As: a.As, EntryPoint: engine.Listener, Asked: &engine.Asked{}}
	text, err := json.Marshal(m)
	if err != nil {
		return engine.Call{}, nil, err
	}
	if m.ID != "" {
		call.IdempotencyKey, call.KeyScope, call.Fingerprint = m.ID, "hook "+a.hook.Name, print
	}
	if a.hook.Waits {
		return call, func(c *engine.Ctx) (any, error) { return a.hook.carryOut(c, text, file) }, nil
	}
	return call, func(c *engine.Ctx) (any, error) { return accept(c, a.hook.Name, text, file) }, nil
}

// accept has a message run in the background.
func accept(c *engine.Ctx, hook string, message json.RawMessage, file *storage.Blob) (any, error) {
	j := job{Hook: hook, Message: message, Runs: c.NewID(), File: file}
	if file != nil {
		if err := hold.Stage(c.Tx, file); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	if err := c.Tx.As(c.Tx.Repo().System()).Table(waiting).Put(j.Runs, c.Now); err != nil {
		return nil, err
	}
	return map[string]any{"id": j.Runs}, outbox.Enqueue(c.Tx, outbox.Job{ID: j.Runs, Kind: RunJob, Data: data, As: c.As.Name})
}

// carryOut runs what the hook names.
func (h *Hook) carryOut(c *engine.Ctx, message json.RawMessage, file *storage.Blob) (any, error) {
	value, err := c.ParseJSON(message)
	if err != nil {
		return nil, err
	}
	c.SetVar(variable, value)
	var in any
	switch {
	case file != nil:
		in = file
	case h.Input != "":
		if in, err = c.Tx.Doc(storage.Ref(h.Input)); err != nil {
			return nil, err
		}
	}
	p, err := h.Plan(c.Set(), h.in(), variable, engine.PlanOptions{})
	if err != nil {
		return nil, err
	}
	out, err := p.Run(c, in)
	if err != nil {
		return nil, fault.Wrap(err, "hook %s", h.Name)
	}
	return out, nil
}

// Jobs are what carries out the jobs of hooks.
func (h *Hooks) Jobs() outbox.Handlers { return outbox.Handlers{RunJob: {Do: h.run, AtOnce: 4}} }

// run carries out a message that was accepted.
func (h *Hooks) run(ctx context.Context, queued outbox.Job) error {
	var j job
	if err := json.Unmarshal(queued.Data, &j); err != nil {
		return &outbox.GaveUp{Err: err}
	}
	name := j.Hook
	call := engine.Call{Op: "hook " + name, As: h.engine.System(), EntryPoint: engine.Listener, Asked: &engine.Asked{}}
	err := h.engine.Work(ctx, call, engine.Writes, func(tx *storage.Tx) error {
		var since time.Time
		if found, err := tx.Table(waiting).Get(j.Runs, &since); err != nil || !found {
			return err // run already: the server ended before it noted that
		}
		if err := tx.Table(waiting).Delete(j.Runs); err != nil {
			return err
		}
		one := h.find(name)
		if one == nil {
			return fault.Invalid.Errorf("hook %s: was removed", name)
		}
		as, err := engine.RunsAs(tx, one.As)
		if err != nil {
			return fault.Denied.Errorf("hook %s: user %s: %w", name, one.As, err)
		}
		if j.File != nil {
			j.File = hold.Load(tx, *j.File)
		}
		return h.engine.Within(tx, as, engine.Listener, "hook "+name, func(c *engine.Ctx) error {
			_, err := one.carryOut(c, j.Message, j.File)
			return err
		})
	})
	noted := h.note(context.WithoutCancel(ctx), name, err)
	return errors.Join(outbox.Final(err), noted)
}

// note writes down how a run ended.
func (h *Hooks) note(ctx context.Context, name string, ended error) error {
	return h.engine.Repo().Update(ctx, h.engine.System(), func(tx *storage.Tx) error {
		if h.find(name) == nil {
			return nil
		}
		st := state{Last: tx.Now()}
		if ended != nil {
			st.Failure = ended.Error()[:min(len(ended.Error()), maxReason)]
		}
		return tx.Table(table).Put(name, &st)
	})
}

// ids are the headers in which senders name a request, for those that are sent again.
var ids = []string{"webhook-id", "Idempotency-Key", "X-GitHub-Delivery"}

func idOf(head http.Header) string {
	for _, name := range ids {
		if id := head.Get(name); id != "" {
			return id
		}
	}
	return ""
}

// hidden are headers that runs do not see.
var hidden = []string{"authorization", "cookie", "webhook-signature", "x-hub-signature", "x-hub-signature-256"}

func headersOf(head http.Header) map[string]string {
	out := make(map[string]string, len(head))
	for name, values := range head {
		out[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	for _, name := range hidden {
		delete(out, name)
	}
	return out
}

// valuesOf are the values of a form: a text each, or a list of those that are named more than once.
func valuesOf(form url.Values) map[string]any {
	out := make(map[string]any, len(form))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		values := form[name]
		name = strings.ToValidUTF8(name, "\uFFFD") // two names may become one, of which the last counts
		if len(values) == 1 {
			out[name] = values[0]
			continue
		}
		out[name] = values
	}
	return out
}

// parse reads a body as its type says.
func parse(typ string, body []byte) (any, error) {
	switch {
	case len(body) == 0:
		return nil, nil
	case typ == "application/json" || strings.HasSuffix(typ, "+json"):
		v, err := engine.ParseJSON(body)
		if err != nil {
			return nil, fault.Invalid.Errorf("body: %w", err).In("body")
		}
		return v, nil
	case typ == "application/x-www-form-urlencoded":
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, fault.Invalid.Errorf("body: is not a form").In("body")
		}
		return valuesOf(form), nil
	case strings.HasPrefix(typ, "text/") || typ == "":
		return strings.ToValidUTF8(string(body), "\uFFFD"), nil
	}
	return nil, fault.Invalid.Errorf("content type %q: the hook takes JSON, a form or text; input: file takes others", typ).WithCode(fault.CodeUnsupportedMediaType)
}

// FileName is the name that the head of a request gives to its body.
func FileName(head http.Header) string {
	if _, params, err := mime.ParseMediaType(head.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return cmp.Or(strings.ToValidUTF8(params["filename"][strings.LastIndexAny(params["filename"], `/\`)+1:], "\uFFFD"), "body")
	}
	return "body"
}
