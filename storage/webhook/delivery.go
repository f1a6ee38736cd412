package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/outbox"
)

// The states of a delivery.
const (
	Waits  = "waiting"
	Done   = "delivered"
	Failed = "failed"
)

// JobKind is the kind of the jobs that make deliveries; their data is a Ref.
const JobKind = "webhook"

// sweepBatch is how many deliveries one transaction removes.
const sweepBatch = 200

// Ref names a delivery.
type Ref struct{ Webhook, Delivery string }

// deliveryKey orders the deliveries of a webhook, newest first.
func deliveryKey(hook string, d *Delivery) string {
	return fmt.Sprintf("%s/%016x/%s", hook, uint64(1<<62-d.Created.UnixMilli()), d.ID)
}

// Deliver has an event delivered to a webhook once the transaction is committed. Only what sends events
// calls it: it asks for no permission.
func Deliver(tx *storage.Tx, d Delivery) error {
	if err := tx.MayWrite(); err != nil {
		return err
	}
	d.ID, d.State, d.Created = "msg_"+tx.NewID(), Waits, tx.Now()
	return send(tx, &d)
}

func send(tx *storage.Tx, d *Delivery) error {
	if err := tx.Secret(deliveries).Put(deliveryKey(d.Webhook, d), d); err != nil {
		return err
	}
	if err := tx.Secret(deliveries).Put(d.ID, deliveryKey(d.Webhook, d)); err != nil {
		return err
	}
	data, err := json.Marshal(Ref{d.Webhook, d.ID})
	if err != nil {
		return err
	}
	return outbox.Enqueue(tx, outbox.Job{Kind: JobKind, Data: data, As: tx.Actor()})
}

// Deliveries returns the latest deliveries of a webhook, newest first.
func Deliveries(tx *storage.Tx, hook string, limit int) ([]Delivery, error) {
	if _, err := Get(tx, hook); err != nil {
		return nil, err
	}
	var out []Delivery
	for d, err := range storage.Records[Delivery](tx.Secret(deliveries), hook+"/", hook+"0", limit) {
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// DeliveryOf returns a delivery of a webhook.
func DeliveryOf(tx *storage.Tx, r Ref) (d Delivery, err error) {
	if _, err := Get(tx, r.Webhook); err != nil {
		return d, err
	}
	var key string
	ok, err := tx.Secret(deliveries).Get("msg_"+trimMsg(r.Delivery), &key)
	if ok && err == nil {
		ok, err = tx.Secret(deliveries).Get(key, &d)
	}
	if err != nil {
		return d, err
	}
	if !ok || d.Webhook != r.Webhook {
		return d, fault.NotFound.Errorf("delivery %s", r.Delivery)
	}
	return d, nil
}

func trimMsg(id string) string {
	if len(id) > 4 && id[:4] == "msg_" {
		return id[4:]
	}
	return id
}

// Redeliver has a finished delivery made once more, under the same identifier.
func Redeliver(tx *storage.Tx, r Ref) (Delivery, error) {
	d, err := DeliveryOf(tx, r)
	if err != nil {
		return d, err
	}
	if d.State == Waits {
		return d, fault.Conflict.Errorf("delivery %s: is in progress", r.Delivery)
	}
	d.State, d.Finished = Waits, time.Time{}
	return d, send(tx, &d)
}

// Tried notes how a try of a delivery ended, and what it says about its webhook; for what sends events.
func Tried(tx *storage.Tx, w Webhook, d Delivery) error {
	if !tx.Principal().System {
		return fault.Denied.Errorf("delivery %s: cannot be written by a client", d.ID)
	}
	var now Webhook
	ok, err := tx.Secret(webhooks).Get(w.ID, &now)
	if err != nil || !ok {
		return err
	}
	if err := tx.Secret(deliveries).Put(deliveryKey(w.ID, &d), d); err != nil {
		return err
	}
	same := now.Failures == w.Failures && now.Disabled == w.Disabled && now.Next.Equal(w.Next)
	if same {
		return nil
	}
	now.Failures, now.Failing, now.Next = w.Failures, w.Failing, w.Next
	if w.Disabled && !now.Disabled {
		now.Disabled, now.Reason = true, w.Reason
		return put(tx, now)
	}
	return tx.Secret(webhooks).Put(w.ID, now)
}

// dropDeliveries removes all deliveries of a webhook.
func dropDeliveries(tx *storage.Tx, hook string) error {
	var drop []Delivery
	for d, err := range storage.Records[Delivery](tx.Secret(deliveries), hook+"/", hook+"0", 0) {
		if err != nil {
			return err
		}
		drop = append(drop, d)
	}
	for _, d := range drop {
		if err := dropDelivery(tx, &d); err != nil {
			return err
		}
	}
	return nil
}

func dropDelivery(tx *storage.Tx, d *Delivery) error {
	return cmp.Or(tx.Secret(deliveries).Delete(deliveryKey(d.Webhook, d)), tx.Secret(deliveries).Delete(d.ID))
}

// sweep removes the finished deliveries of each webhook beyond the newest ones. It is not done by the transactions that end
// deliveries: each would read all of them, and conflict with every other.
func sweep(ctx context.Context, r *storage.Repo) error {
	var old []Delivery
	err := r.View(ctx, r.System(), func(tx *storage.Tx) error {
		old = nil
		hook, finished := "", 0
		for d, err := range storage.Records[Delivery](tx.Secret(deliveries), "", "msg_", 0) {
			if err != nil {
				return err
			}
			if d.Webhook != hook {
				hook, finished = d.Webhook, 0
			}
			if d.State == Waits {
				continue
			}
			if finished++; finished > keptDeliveries {
				old = append(old, Delivery{ID: d.ID, Webhook: d.Webhook, Created: d.Created})
			}
		}
		return nil
	})
	for batch := range slices.Chunk(old, sweepBatch) {
		if err == nil {
			err = r.Update(ctx, r.System(), func(tx *storage.Tx) error { return dropFinished(tx, batch) })
		}
	}
	return err
}

// dropFinished removes deliveries, except those that are made again now.
func dropFinished(tx *storage.Tx, old []Delivery) error {
	for i := range old {
		var d Delivery
		ok, err := tx.Secret(deliveries).Get(deliveryKey(old[i].Webhook, &old[i]), &d)
		if err != nil {
			return err
		}
		if ok && d.State != Waits {
			if err := dropDelivery(tx, &d); err != nil {
				return err
			}
		}
	}
	return nil
}
