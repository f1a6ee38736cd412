package outside

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
	"catena/storage/outbox"
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
// of it, only the name.
type sending struct {
	Message message       `json:"message"`
	File    *storage.Blob `json:"file,omitempty"`
	Chain   string        `json:"chain,omitempty"`
	storage.Owned
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
	s := sending{Message: *m, Chain: c.ChainName(), Owned: storage.OwnedBy(c.As)}
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
		if err := json.Unmarshal(j.Data, &s); err != nil {
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
