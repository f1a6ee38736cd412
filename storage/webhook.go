package storage

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
)

// Webhook is an address that is told what happens to what its owner may read.
type Webhook struct {
	ID, Owner, URL, Description string
	Events                      []string // types: "deck.created", "document.*", or "*"
	Disabled                    bool
	Reason                      string `json:",omitempty"` // why the server disabled it
	Created, Updated            time.Time

	// How deliveries fare: since when all have failed, and when to try again.
	Failures      int       `json:",omitempty"`
	Failing, Next time.Time `json:",omitzero"`
}

// Delivery is one event on its way to a webhook.
type Delivery struct {
	ID, Webhook, Type string
	Doc               string `json:",omitempty"` // the document it is about
	Body              json.RawMessage
	State             string // waiting, delivered, failed
	Created           time.Time
	Finished          time.Time `json:",omitzero"`
	Tries, Status     int       // Status: of the last answer, 0 if there was none
	Failure           string    `json:",omitempty"`
}

const (
	webhooksTable   = "webhooks"
	webhookSecrets  = "webhook secrets"
	webhookIndex    = "webhook index" // one row: what the webhooks there are want to know
	deliveriesTable = "deliveries"

	maxWebhooks     = 1000
	maxUserWebhooks = 20
	keptDeliveries  = 100
	secretOverlap   = 24 * time.Hour
)

// webhookSecret is a key of signatures; one that was replaced holds for another day.
type webhookSecret struct {
	Key   []byte
	Until time.Time `json:",omitzero"`
}

// WebhookWant is what a webhook in use wants to know.
type WebhookWant struct {
	ID, Owner string
	Events    []string
}

var eventPattern = regexp.MustCompile(`^(\*|[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*(\.\*)?)$`)

// CreateWebhook registers a webhook of one's own. The secret of its signatures is returned this once.
func (t *Tx) CreateWebhook(w Webhook) (Webhook, string, error) {
	if err := t.mayWrite(); err != nil {
		return w, "", err
	}
	if t.as.Name == "" || t.as.System && t.as.Actor == "" {
		return w, "", errNobody
	}
	w.ID, w.Owner, w.Created, w.Updated = t.NewID(), t.actor(), t.now, t.now
	if err := w.check(); err != nil {
		return w, "", err
	}
	index, err := t.WebhookWants()
	if err != nil {
		return w, "", err
	}
	own, err := t.Webhooks("")
	if err != nil {
		return w, "", err
	}
	own = slices.DeleteFunc(own, func(o Webhook) bool { return o.Owner != w.Owner })
	if len(own) >= maxUserWebhooks || len(index) >= maxWebhooks {
		return w, "", fault.Limit.Errorf("webhooks: at most %d of one user, %d together", maxUserWebhooks, maxWebhooks)
	}
	secret, err := t.renewSecret(w.ID)
	if err != nil {
		return w, "", err
	}
	return w, secret, t.putWebhook(w)
}

func (w *Webhook) check() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(w.URL) > 2000:
		return fault.Invalid.Errorf("url %q: an address of http or https expected", cutText(w.URL, 100)).In("url")
	case u.User != nil || u.Fragment != "":
		return fault.Invalid.Errorf("url: without user, password and fragment").In("url")
	case len(w.Description) > 500:
		return fault.Limit.Errorf("description: at most 500 bytes").In("description")
	case len(w.Events) == 0 || len(w.Events) > 100:
		return fault.Invalid.Errorf("events: between 1 and 100 types of events").In("events")
	}
	for _, e := range w.Events {
		if len(e) > 100 || !eventPattern.MatchString(e) {
			return fault.Invalid.Errorf("events: %q is no type of event, like deck.created, deck.* or *", cutText(e, 100)).In("events")
		}
	}
	return nil
}

// renewSecret makes a new secret of a webhook. Those before it hold for another day.
func (t *Tx) renewSecret(id string) (string, error) {
	var all []webhookSecret
	if _, err := t.secret(webhookSecrets).Get(id, &all); err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(s webhookSecret) bool { return !s.Until.IsZero() })
	for i := range all {
		all[i].Until = t.now.Add(secretOverlap)
	}
	key := make([]byte, 32)
	rand.Read(key)
	all = append([]webhookSecret{{Key: key}}, all...)
	return "whsec_" + base64.StdEncoding.EncodeToString(key), t.secret(webhookSecrets).Put(id, all)
}

// putWebhook writes a webhook and what is known of all of them.
func (t *Tx) putWebhook(w Webhook) error {
	index, err := t.WebhookWants()
	if err != nil {
		return err
	}
	index = slices.DeleteFunc(index, func(o WebhookWant) bool { return o.ID == w.ID })
	if !w.Disabled {
		index = append(index, WebhookWant{w.ID, w.Owner, w.Events})
	}
	t.changed(Change{Kind: "record", Note: "webhook " + w.ID}, nil)
	return firstError(t.secret(webhookIndex).Put("all", index), t.secret(webhooksTable).Put(w.ID, w))
}

// WebhookWants returns what the webhooks in use want to know.
func (t *Tx) WebhookWants() (all []WebhookWant, err error) {
	_, err = t.secret(webhookIndex).Get("all", &all)
	return all, err
}

// Wants reports whether a type of event is wanted.
func (w *WebhookWant) Wants(typ string) bool {
	return slices.ContainsFunc(w.Events, func(e string) bool {
		family, all := strings.CutSuffix(e, "*")
		return e == typ || all && strings.HasPrefix(typ, family)
	})
}

// Webhook returns one of one's own webhooks; administrators see everybody's.
func (t *Tx) Webhook(id string) (Webhook, error) {
	var w Webhook
	if id == "" {
		return w, fault.NotFound.Errorf("webhook %s", id)
	}
	ok, err := t.secret(webhooksTable).Get(id, &w)
	if err != nil {
		return w, err
	}
	if !ok || w.Owner != t.as.Name && !t.rights.admin {
		return w, fault.NotFound.Errorf("webhook %s", id)
	}
	return w, nil
}

// Webhooks returns the webhooks of a user; for administrators "" is everybody's, for others one's own.
func (t *Tx) Webhooks(owner string) ([]Webhook, error) {
	if !t.rights.admin {
		if owner != "" && owner != t.as.Name {
			return nil, fault.Denied.Errorf("webhooks of %s: not for '%s'", owner, t.as.Name)
		}
		owner = t.as.Name
	}
	var out []Webhook
	for row, err := range t.secret(webhooksTable).rows("", "", false, 0) {
		if err != nil {
			return nil, err
		}
		var w Webhook
		if err := json.Unmarshal(row.Value, &w); err != nil {
			return nil, fault.Internal.Errorf("webhook: %w", err)
		}
		if owner == "" || w.Owner == owner {
			out = append(out, w)
		}
	}
	return out, nil
}

// UpdateWebhook changes what a webhook says; renew makes a new secret, which is returned this once.
func (t *Tx) UpdateWebhook(w Webhook, renew bool) (_ Webhook, secret string, err error) {
	if err := t.mayWrite(); err != nil {
		return w, "", err
	}
	old, err := t.Webhook(w.ID)
	if err != nil {
		return w, "", err
	}
	w.Owner, w.Created, w.Updated = old.Owner, old.Created, t.now
	if old.Disabled && !w.Disabled {
		w.Failures, w.Failing, w.Next, w.Reason = 0, time.Time{}, time.Time{}, ""
	}
	if err := w.check(); err != nil {
		return w, "", err
	}
	if renew {
		if secret, err = t.renewSecret(w.ID); err != nil {
			return w, "", err
		}
	}
	return w, secret, t.putWebhook(w)
}

// DeleteWebhook removes a webhook with its deliveries; those that wait are not made.
func (t *Tx) DeleteWebhook(id string) error {
	if err := t.mayWrite(); err != nil {
		return err
	}
	w, err := t.Webhook(id)
	if err != nil {
		return err
	}
	w.Disabled = true
	if err := t.putWebhook(w); err != nil {
		return err
	}
	if err := t.dropDeliveries(id, 0); err != nil {
		return err
	}
	return firstError(t.secret(webhookSecrets).Delete(id), t.secret(webhooksTable).Delete(id))
}
