// Package delivery sends webhooks in the format of Standard Webhooks: each event is signed, sent after the
// transaction that caused it has committed, and retried until it is accepted or a day has passed. Webhooks and
// deliveries are kept by storage; the connection is made by whatever client the server has for what leaves it.
//
// A delivery is a row and a job. The event is written down in the transaction that causes it, for the
// webhooks whose owner may read the document at that time. Each try signs the body again with the secrets that are valid then. An address that keeps failing gets one delivery at a time, and none after a day of failures, so that it does not use the time of the others.
package delivery

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/keyring"
	"catena/storage/outbox"
	"catena/storage/webhook"
)

// Post sends a body to an address and returns the status of the answer.
type Post func(ctx context.Context, address string, h http.Header, body []byte) (status int, err error)

// Sender makes the deliveries of a repository.
type Sender struct {
	repo  *storage.Repo
	post  Post
	log   *slog.Logger
	clock func() time.Time

	mu   sync.Mutex
	busy map[string]int // deliveries under way, by webhook
}

// Bounds of deliveries.
const (
	timeout   = 10 * time.Second
	maxBody   = 64 << 10
	maxPause  = 5 * time.Minute // between tries of any delivery to an address that fails
	patience  = 24 * time.Hour  // after which an address that always fails is told nothing more
	lastTries = 8
)

// New returns the sender of a repository and has it told of events. It is called before the repository is used.
func New(repo *storage.Repo, post Post, log *slog.Logger, clock func() time.Time) *Sender {
	if clock == nil {
		clock = time.Now
	}
	s := &Sender{repo: repo, post: post, log: log, clock: clock, busy: map[string]int{}}
	repo.OnEvent(s.happened)
	return s
}

// types are the types of the events of storage as webhooks know them. An event whose name has a dot
// is its own type; every other one, fired by a chain or a client, is "event." and its name.
var types = map[string]string{
	"addedToCollection":          "collection.added",
	"commentAdded":               "comment.created",
	"commentRemoved":             "comment.removed",
	"commentUpdated":             "comment.updated",
	"documentCheckedIn":          "document.version_created",
	"documentCheckedOut":         "document.checked_out",
	"documentCreated":            "document.created",
	"documentCreatedByCopy":      "document.copied",
	"documentLocked":             "document.locked",
	"documentModified":           "document.updated",
	"documentMoved":              "document.moved",
	"documentProxyPublished":     "document.proxy_published",
	"documentPublished":          "document.published",
	"documentRemoved":            "document.removed",
	"documentRestored":           "document.version_restored",
	"documentSecurityUpdated":    "document.permissions_changed",
	"documentTrashed":            "document.trashed",
	"documentUnlocked":           "document.unlocked",
	"documentUntrashed":          "document.recovered",
	"lifecycle_transition_event": "document.state_changed",
	"removedFromCollection":      "collection.removed",
	"workflowTaskAssigned":       "task.assigned",
	"workflowTaskCompleted":      "task.completed",
	"workflowCanceled":           "workflow.canceled",
	"workflowTaskDelegated":      "task.delegated",
	"workflowTaskReassigned":     "task.reassigned",
	"afterWorkflowFinish":        "workflow.finished",
	"afterWorkflowStarted":       "workflow.started",
	"documentDuplicated":         "document.duplicated",
}

// TypeOf returns the type of an event of storage; "" if webhooks are not told of it.
func TypeOf(event string) string {
	switch t, ok := types[event]; {
	case ok:
		return t
	case strings.HasPrefix(event, "aboutTo"), strings.HasPrefix(event, "before"):
		return ""
	case strings.Contains(event, "."):
		return event
	}
	return "event." + event
}

// happened is told every event, in its transaction.
func (s *Sender) happened(tx *storage.Tx, e storage.Event) error {
	typ := TypeOf(e.Name)
	if typ == "" {
		return nil
	}
	wants, err := webhook.Wants(tx)
	if err != nil || len(wants) == 0 {
		return err
	}
	var body []byte
	for i := range wants {
		w := &wants[i]
		if !w.Wants(typ) {
			continue
		}
		if ok, err := mayKnow(tx, w.Owned, e.Doc); err != nil || !ok {
			if err != nil {
				return err
			}
			continue
		}
		if body == nil {
			if body, err = payload(tx, typ, e); err != nil {
				return err
			}
		}
		d := webhook.Delivery{Webhook: w.ID, Type: typ, Body: body}
		if e.Doc != nil {
			d.Doc = e.Doc.ID()
		}
		if err := webhook.Deliver(tx, d); err != nil {
			return err
		}
	}
	return nil
}

// mayKnow reports whether the owner of a webhook may know of an event: anyone who may read its document; of one
// without document, who caused it, and administrators.
func mayKnow(tx *storage.Tx, owner storage.Owned, d *storage.Doc) (bool, error) {
	as := tx.Principal()
	if !owner.Is(as) {
		p, err := owner.Principal(tx.As(tx.Repo().System()))
		if fault.Is(err, fault.NotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		as = p
	}
	if d == nil {
		return as.Admin || as.Name == tx.Principal().Name, nil
	}
	return tx.As(as).Can(d, "Read"), nil
}

// payload is what is sent: the type, the time, and the event itself.
func payload(tx *storage.Tx, typ string, e storage.Event) ([]byte, error) {
	as := tx.Principal()
	user := as.Name
	if as.Actor != "" {
		user = as.Actor
	}
	data := map[string]any{}
	for k, v := range e.Extra {
		data[k] = v
	}
	data["event"], data["user"] = e.Name, user
	if e.Comment != "" {
		data["comment"] = e.Comment
	}
	if len(e.Changed) > 0 {
		data["changed"] = e.Changed
	}
	if d := e.Doc; d != nil {
		data["document"] = map[string]any{
			"uid": d.ID(), "path": d.Path(), "type": d.Type().Name, "title": d.Title(), "state": d.State(), "isTrashed": d.IsTrashed(),
		}
	}
	message := map[string]any{"type": typ, "timestamp": tx.Now(), "data": data}
	body, err := json.Marshal(message)
	if err == nil && len(body) > maxBody {
		message["data"] = map[string]any{"event": e.Name, "user": user, "document": data["document"], "truncated": true}
		body, err = json.Marshal(message)
	}
	return body, err
}

// Job makes one try of a delivery.
func (s *Sender) Job(ctx context.Context, j outbox.Job) error {
	var ref webhook.Ref
	if err := json.Unmarshal(j.Data, &ref); err != nil {
		return &outbox.GaveUp{Err: fault.Invalid.Errorf("webhook: %w", err)}
	}
	w, d, keys, err := s.prepare(ctx, ref)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil // the webhook, or what it is about, is gone or no longer its owner's to read
	case err != nil:
		return err
	case w.Disabled:
		d.State, d.Failure, d.Finished = webhook.Failed, "the webhook is disabled", s.clock().UTC()
		return s.note(ctx, w, d)
	case s.clock().Before(w.Next) && storage.Recent(s.clock(), w.Next.Add(-maxPause), maxPause):
		return &outbox.Later{At: w.Next.Add(s.repo.Jitter(10 * time.Second)), Why: "deliveries to the address fail"}
	case !s.enter(ctx, &w):
		return &outbox.Later{At: s.clock().Add(time.Second + s.repo.Jitter(time.Second)), Why: "the address is busy"}
	}
	defer s.leave(w.ID)
	failed := s.try(ctx, &w, &d, keys, j.Tries)
	if err := s.note(ctx, w, d); err != nil || d.State != webhook.Waits {
		return err
	}
	return failed
}

// enter takes a slot among the deliveries to an address: four, or one while it fails, so that a slow one
// does not hold up the others. It waits a moment for one.
func (s *Sender) enter(ctx context.Context, w *webhook.Webhook) bool {
	slots := 4
	if w.Failures > 0 {
		slots = 1
	}
	for range 20 {
		if s.take(w.ID, slots) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(5 * time.Millisecond):
		}
	}
	return false
}

func (s *Sender) take(id string, slots int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id] >= slots {
		return false
	}
	s.busy[id]++
	return true
}

func (s *Sender) leave(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy[id]--; s.busy[id] == 0 {
		delete(s.busy, id)
	}
}

// prepare finds what is to be delivered, and asks again whether it may be.
func (s *Sender) prepare(ctx context.Context, ref webhook.Ref) (w webhook.Webhook, d webhook.Delivery, keys [][]byte, err error) {
	err = s.repo.View(ctx, s.repo.System(), func(tx *storage.Tx) (err error) {
		if w, err = webhook.Get(tx, ref.Webhook); err != nil {
			return err
		}
		if d, err = webhook.DeliveryOf(tx, ref); err != nil {
			return err
		}
		if keys, err = keyring.Webhooks.Keys(tx, ref.Webhook); err != nil {
			return err
		}
		owner, err := w.Principal(tx)
		if err != nil || d.Doc == "" {
			return err
		}
		doc, err := tx.Doc(storage.Ref(d.Doc))
		switch {
		case fault.Is(err, fault.NotFound):
			return nil // removed: it was looked at then
		case err == nil && !tx.As(owner).Can(doc, "Read"):
			return fault.NotFound.Errorf("document %s", d.Doc)
		}
		return err
	})
	return w, d, keys, err
}

// try posts a delivery, and writes down what came of it.
func (s *Sender) try(ctx context.Context, w *webhook.Webhook, d *webhook.Delivery, keys [][]byte, tries int) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	now := s.clock().UTC()
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("webhook-id", d.ID)
	h.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	h.Set("webhook-signature", keyring.Sign(keys, d.ID, now, d.Body))
	status, err := s.post(ctx, w.URL, h, d.Body)
	d.Tries++
	d.Status, d.Failure = status, ""
	if err == nil && status >= 200 && status < 300 {
		d.State, d.Finished = webhook.Done, now
		w.Failures, w.Failing, w.Next = 0, time.Time{}, time.Time{}
		return nil
	}
	if err == nil {
		err = fault.Unavailable.Errorf("webhook %s: responded with status %d", w.ID, status)
	}
	d.Failure = err.Error()
	if w.Failures++; w.Failing.IsZero() || w.Failing.After(now) {
		w.Failing = now
	}
	w.Next = now.Add(min(time.Second<<min(w.Failures, 20), maxPause))
	switch {
	case status == http.StatusGone:
		w.Disabled, w.Reason = true, "the address responded with 410 Gone"
	case now.Sub(w.Failing) > patience:
		w.Disabled, w.Reason = true, "all deliveries have failed for a day"
	}
	if tries >= lastTries || w.Disabled {
		d.State, d.Finished = webhook.Failed, now
	}
	return err
}

func (s *Sender) note(ctx context.Context, w webhook.Webhook, d webhook.Delivery) error {
	if w.Disabled && w.Reason != "" && d.State == webhook.Failed {
		s.log.Warn("webhook disabled", "webhook", w.ID, "owner", w.Owner, "reason", w.Reason)
	}
	return s.repo.Update(ctx, s.repo.System(), func(tx *storage.Tx) error { return webhook.Tried(tx, w, d) })
}
