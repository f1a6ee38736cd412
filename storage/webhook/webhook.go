// Package webhook keeps the addresses that events are sent to, with their owners, signing secrets, and pending and
// past deliveries. It decides who sees and changes them; what is worth telling, and the connection that tells it, is
// left to the engine's package of that name.
//
// Two tables keep a webhook, itself and an index of which events are wanted, which is read
// with every event and therefore is a single row. Secrets are apart so that no list can show one by mistake.
// A replaced secret stays valid for a day (package keyring), in which the receiver can be changed.
package webhook

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/row"
	"catena/storage/keyring"
)

// Webhook is an address that is told what happens to what its owner may read.
type Webhook struct {
	storage.Owned
	ID, URL, Description string
	Events               []string // types: "deck.created", "document.*", or "*"
	Disabled             bool
	Reason               string `json:",omitempty"` // why the server disabled it
	Created, Updated     time.Time

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

var (
	webhooks   = row.Secret{Name: "webhooks"}
	index      = row.Secret{Name: "webhook index"} // what the webhooks there are want to know, in one row
	deliveries = row.Secret{Name: "deliveries"}
)

const (
	maxWebhooks     = 1000
	maxUserWebhooks = 20
	keptDeliveries  = 100
)

// onlyRow is the key of the row of the index.
const onlyRow = "all"

// Want is what a webhook in use wants to know.
type Want struct {
	storage.Owned
	ID     string
	Events []string
}

var eventPattern = regexp.MustCompile(`^(\*|[A-Za-z0-9_]+(\.[A-Za-z0-9_]+)*(\.\*)?)$`)

// Create registers a webhook of the caller's own. The secret of its signatures is returned this once.
func Create(tx *storage.Tx, w Webhook) (Webhook, string, error) {
	if err := tx.MayWrite(); err != nil {
		return w, "", err
	}
	if as := tx.Principal(); as.Name == "" || as.System && as.Actor == "" {
		return w, "", storage.ErrNobody
	}
	if err := w.check(); err != nil {
		return w, "", err
	}
	number, err := storage.NumberOf(tx, tx.Actor())
	if err != nil {
		return w, "", err
	}
	w.Owned, w.ID, w.Created, w.Updated = storage.Owned{Owner: tx.Actor(), OwnerID: number}, tx.NewID(), tx.Now(), tx.Now()
	wants, err := Wants(tx)
	if err != nil {
		return w, "", err
	}
	own, err := List(tx, "")
	if err != nil {
		return w, "", err
	}
	own = slices.DeleteFunc(own, func(o Webhook) bool { return o.Owned != w.Owned })
	if len(own) >= maxUserWebhooks || len(wants) >= maxWebhooks {
		return w, "", fault.Limit.Errorf("webhooks: at most %d per user and %d in total are allowed", maxUserWebhooks, maxWebhooks)
	}
	secret, err := keyring.Webhooks.Renew(tx, w.ID)
	if err != nil {
		return w, "", err
	}
	return w, secret, put(tx, w)
}

func (w *Webhook) check() error {
	u, err := url.Parse(w.URL)
	switch {
	case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || len(w.URL) > 2000:
		return fault.Invalid.Errorf("url %.100q: must be an http or https address", w.URL).In("url")
	case u.User != nil || u.Fragment != "":
		return fault.Invalid.Errorf("url: must not contain a user, password or fragment").In("url")
	case len(w.Description) > 500:
		return fault.Limit.Errorf("description: must have at most 500 bytes").In("description")
	case len(w.Events) == 0 || len(w.Events) > 100:
		return fault.Invalid.Errorf("events: must name between 1 and 100 event types").In("events")
	}
	for _, e := range w.Events {
		if len(e) > 100 || !eventPattern.MatchString(e) {
			return fault.Invalid.Errorf("events: %.100q is not an event type such as deck.created, deck.* or *", e).In("events")
		}
	}
	return nil
}

// put writes a webhook and what is known of all of them.
func put(tx *storage.Tx, w Webhook) error {
	wants, err := Wants(tx)
	if err != nil {
		return err
	}
	wants = slices.DeleteFunc(slices.Clone(wants), func(o Want) bool { return o.ID == w.ID })
	if !w.Disabled {
		wants = append(wants, Want{w.Owned, w.ID, w.Events})
	}
	storage.NoteChange(tx, "record", "webhook "+w.ID)
	row.Of[known](tx.Internal(row.Ordered{}).Memory()).read = false
	return cmp.Or(tx.Secret(index).Put(onlyRow, wants), tx.Secret(webhooks).Put(w.ID, w))
}

// lastRead is the row of the index that some transaction last read, and what it says.
type lastRead struct {
	row   []byte
	wants []Want
}

// known is what a transaction knows of the index.
type known struct {
	read  bool
	wants []Want
}

// Wants returns what the webhooks in use want to know, which is shared and not changed. It is asked at
// every event: a transaction reads the index once.
func Wants(tx *storage.Tx) ([]Want, error) {
	k := row.Of[known](tx.Internal(row.Ordered{}).Memory())
	if k.read {
		return k.wants, nil
	}
	wants, err := readWants(tx)
	if err == nil {
		k.read, k.wants = true, wants
	}
	return wants, err
}

// readWants reads the index. A row that is the one read before is not taken apart again.
func readWants(tx *storage.Tx) ([]Want, error) {
	text, err := tx.Secret(index).Row(onlyRow)
	if err != nil || text == nil {
		return nil, err
	}
	last := row.Of[atomic.Pointer[lastRead]](tx.Repo().Memory())
	if l := last.Load(); l != nil && bytes.Equal(l.row, text) {
		return l.wants, nil
	}
	var all []Want
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fault.Internal.Errorf("webhooks: %w", err)
	}
	last.Store(&lastRead{bytes.Clone(text), all})
	return all, nil
}

// Wants reports whether a type of event is wanted.
func (w *Want) Wants(typ string) bool {
	return slices.ContainsFunc(w.Events, func(e string) bool {
		family, all := strings.CutSuffix(e, "*")
		return e == typ || all && strings.HasPrefix(typ, family)
	})
}

// Get returns one of the caller's own webhooks; administrators see everybody's.
func Get(tx *storage.Tx, id string) (Webhook, error) {
	var w Webhook
	if id == "" {
		return w, fault.NotFound.Errorf("webhook %s", id)
	}
	ok, err := tx.Secret(webhooks).Get(id, &w)
	if err != nil {
		return w, err
	}
	if as := tx.Principal(); !ok || !w.Is(as) && !as.Admin {
		return w, fault.NotFound.Errorf("webhook %s", id)
	}
	return w, nil
}

// List returns the webhooks of a user; for administrators "" is everybody's, for others the caller's own.
func List(tx *storage.Tx, owner string) ([]Webhook, error) {
	as := tx.Principal()
	if !as.Admin {
		if owner != "" && owner != as.Name {
			return nil, fault.Denied.Errorf("webhooks of %s: not visible to '%s'", owner, as.Name)
		}
		owner = as.Name
	}
	var out []Webhook
	for w, err := range storage.Records[Webhook](tx.Secret(webhooks), "", "", 0) {
		if err != nil {
			return nil, err
		}
		if owner == "" || w.Owner == owner && (as.Admin || w.Is(as)) {
			out = append(out, w)
		}
	}
	return out, nil
}

// Update changes what a webhook says; renew makes a new secret, which is returned this once.
func Update(tx *storage.Tx, w Webhook, renew bool) (_ Webhook, secret string, err error) {
	if err := tx.MayWrite(); err != nil {
		return w, "", err
	}
	old, err := Get(tx, w.ID)
	if err != nil {
		return w, "", err
	}
	w.Owned, w.Created, w.Updated = old.Owned, old.Created, tx.Now()
	if old.Disabled && !w.Disabled {
		w.Failures, w.Failing, w.Next, w.Reason = 0, time.Time{}, time.Time{}, ""
	}
	if err := w.check(); err != nil {
		return w, "", err
	}
	if renew {
		if secret, err = keyring.Webhooks.Renew(tx, w.ID); err != nil {
			return w, "", err
		}
	}
	return w, secret, put(tx, w)
}

// Owner keeps the webhooks of users.
var Owner = storage.Owner{Name: "webhook", Leave: end, Sweep: sweep, Reads: []storage.FirstRow{{Key: storage.SecretKey(index, onlyRow), Value: []byte("[]")}}}

// end removes the webhooks of a user who is gone.
func end(tx *storage.Tx, user string) error {
	system := tx.As(tx.Repo().System())
	all, err := List(system, user)
	if err != nil {
		return err
	}
	for i := range all {
		if err := Delete(system, all[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes a webhook with its deliveries; those that wait are not made.
func Delete(tx *storage.Tx, id string) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	w, err := Get(tx, id)
	if err != nil {
		return err
	}
	w.Disabled = true
	if err := put(tx, w); err != nil {
		return err
	}
	if err := dropDeliveries(tx, id); err != nil {
		return err
	}
	return cmp.Or(keyring.Webhooks.Forget(tx, id), tx.Secret(webhooks).Delete(id))
}
