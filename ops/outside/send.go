package outside

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/expr"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
	"catena/storage/vault"
)

// sendJob is the kind of the jobs that send requests.
const sendJob = "http.send"

func (k *caller) sendOp() engine.Op {
	return engine.Op{
		Name: "Http.Send", Label: "Call another service after the commit", Category: "Services", Callers: engine.Admins.OrStored(),
		Doc: "Sends an HTTP request once the transaction is committed, and returns the input. It is sent again until the answer has a " +
			"status below 300, at most 8 times over a day, always with the same Idempotency-Key.",
		Run: engine.Overload(
			engine.On(func(p message, c *engine.Ctx, _ engine.Void) (engine.Void, error) {
				return engine.Void{}, enqueue(c, &p, nil)
			}),
			engine.On(func(p message, c *engine.Ctx, b *storage.Blob) (engine.Void, error) {
				return engine.Void{}, enqueue(c, &p, b)
			}),
			engine.On(func(p message, c *engine.Ctx, _ any) (engine.Void, error) { return engine.Void{}, enqueue(c, &p, nil) }),
		),
	}
}

// sending is the data of a job. Its JSON is a format on disk. The secret of a credential is never a part
// of it, only the name. The rest of the message is encrypted: headers, the address and the body may hold secrets as well.
type sending struct {
	Message message       `json:"message,omitzero"` // of a job of an earlier version
	Sealed  []byte        `json:"sealed,omitempty"`
	File    *storage.Blob `json:"file,omitempty"`
	Chain   string        `json:"chain,omitempty"`
	storage.Owned
}

// about is what the message of a job is sealed for: nobody else, and no other chain, can send it.
func (s *sending) about() string {
	text, _ := json.Marshal([]any{s.Chain, s.Owned})
	return sendJob + string(text)
}

// seal puts a message into a job. Values that become text do so now: as JSON, a date or a large number would be another one.
func (s *sending) seal(repo *storage.Repo, m *message) error {
	flat := *m
	flat.Headers, flat.Query, flat.Form = texts(m.Headers), texts(m.Query), texts(m.Form)
	text, err := json.Marshal(flat)
	if err != nil {
		return fault.Invalid.Errorf("json: %w", err).In("json")
	}
	s.Sealed, err = vault.Seal(repo, s.about(), string(text))
	return err
}

// unseal reads the message of a job.
func (s *sending) unseal(repo *storage.Repo) error {
	if len(s.Sealed) == 0 {
		return nil
	}
	text, err := vault.Unseal(repo, s.about(), s.Sealed)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber() // the body is sent as it was given, whatever the size of its numbers
	return d.Decode(&s.Message)
}

// texts are values as a request shows them.
func texts(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for name, v := range m {
		list, ok := v.([]any)
		if !ok {
			out[name] = expr.Text(v)
			continue
		}
		flat := make([]any, len(list))
		for i, item := range list {
			flat[i] = expr.Text(item)
		}
		out[name] = flat
	}
	return out
}

// enqueue has a request sent. What is wrong with it is told at once.
func enqueue(c *engine.Ctx, m *message, b *storage.Blob) error {
	// GET is the default of the parameter, which this operation shares with Http.Request, and makes
	// no sense here: nobody sees the answer.
	if m.Method == "" || m.Method == http.MethodGet {
		m.Method = http.MethodPost
	}
	q, err := m.prepare(b)
	if err != nil {
		return err
	}
	// Only to report a credential that is missing or not granted while the caller is there; the job
	// looks it up again.
	if _, err := use(c.Tx, m.Credential, c.ChainName(), q.url); err != nil {
		return err
	}
	s := sending{Chain: c.ChainName(), Owned: storage.OwnedBy(c.As)}
	if err := s.seal(c.Tx.Repo(), m); err != nil {
		return err
	}
	if q.file != nil {
		if err := hold.Stage(c.Tx, b); err != nil {
			return err
		}
		s.File = b
	}
	return c.Enqueue(sendJob, s)
}

// sendTime is how long one try takes at most.
const sendTime = time.Minute

// job returns what sends the requests of a repository.
func (k *caller) job(repo *storage.Repo) func(context.Context, outbox.Job) error {
	return func(ctx context.Context, j outbox.Job) error {
		var s sending
		if err := cmp.Or(json.Unmarshal(j.Data, &s), s.unseal(repo)); err != nil {
			return &outbox.GaveUp{Err: err}
		}
		if s.File != nil && k.Blobs != nil {
			s.File = k.Blobs(*s.File)
		}
		q, err := s.Message.prepare(s.File)
		if err != nil {
			return &outbox.GaveUp{Err: err}
		}
		if q.used, err = s.use(ctx, repo, q); err != nil {
			return err
		}
		// The job's id is the same for every attempt, so a service that knows the header carries
		// the request out once.
		q.header.Set("Idempotency-Key", j.ID)
		a, err := k.send(ctx, q, sendTime)
		if err != nil {
			return err
		}
		defer func() { _ = a.Body.Close() }()
		switch {
		case a.Status < http.StatusMultipleChoices:
			return nil
		case a.Status == http.StatusUnauthorized && q.used != nil:
			k.forget(q.used)
		}
		return fault.Unavailable.Errorf("url %s://%s: responded with status %d", q.url.Scheme, q.url.Host, a.Status)
	}
}

// use finds the credential of a request as of now: one that was taken back is not used any longer.
func (s *sending) use(ctx context.Context, repo *storage.Repo, q *query) (u *used, err error) {
	if s.Message.Credential == "" {
		return nil, nil
	}
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		as, err := s.Acting(tx, "")
		if err != nil {
			return err
		}
		u, err = use(tx.As(as), s.Message.Credential, s.Chain, q.url)
		return err
	})
	return u, err
}
