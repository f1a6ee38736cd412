package storage

import (
	"encoding/json"
	"fmt"
	"time"

	"catena/storage/fault"
)

// The states of a delivery.
const (
	DeliveryWaits  = "waiting"
	DeliveryDone   = "delivered"
	DeliveryFailed = "failed"
)

// DeliveryJob is the kind of the jobs that make deliveries; their data is a DeliveryRef.
const DeliveryJob = "webhook"

// DeliveryRef names a delivery.
type DeliveryRef struct{ Webhook, Delivery string }

// deliveryKey orders the deliveries of a webhook, the newest first.
func deliveryKey(hook string, d *Delivery) string {
	return fmt.Sprintf("%s/%016x/%s", hook, uint64(1<<62-d.Created.UnixMilli()), d.ID)
}

// Deliver has an event delivered to a webhook once the transaction is committed. Only what sends events
// calls it: it asks for no permission.
func (t *Tx) Deliver(d Delivery) error {
	if err := t.mayWrite(); err != nil {
		return err
	}
	d.ID, d.State, d.Created = "msg_"+t.NewID(), DeliveryWaits, t.now
	return t.sendDelivery(&d)
}

func (t *Tx) sendDelivery(d *Delivery) error {
	if err := t.secret(deliveriesTable).Put(deliveryKey(d.Webhook, d), d); err != nil {
		return err
	}
	if err := t.secret(deliveriesTable).Put(d.ID, deliveryKey(d.Webhook, d)); err != nil {
		return err
	}
	data, err := json.Marshal(DeliveryRef{d.Webhook, d.ID})
	if err != nil {
		return err
	}
	return t.Enqueue(Job{Kind: DeliveryJob, Data: data, As: t.actor()})
}

// Deliveries returns the latest deliveries of a webhook, the newest first.
func (t *Tx) Deliveries(hook string, limit int) ([]Delivery, error) {
	if _, err := t.Webhook(hook); err != nil {
		return nil, err
	}
	var out []Delivery
	for row, err := range t.secret(deliveriesTable).rows(hook+"/", hook+"0", false, limit) {
		if err != nil {
			return nil, err
		}
		var d Delivery
		if err := json.Unmarshal(row.Value, &d); err != nil {
			return nil, fault.Internal.Errorf("delivery: %w", err)
		}
		out = append(out, d)
	}
	return out, nil
}

// Delivery returns a delivery of a webhook.
func (t *Tx) Delivery(r DeliveryRef) (d Delivery, err error) {
	if _, err := t.Webhook(r.Webhook); err != nil {
		return d, err
	}
	var key string
	ok, err := t.secret(deliveriesTable).Get("msg_"+trimMsg(r.Delivery), &key)
	if ok && err == nil {
		ok, err = t.secret(deliveriesTable).Get(key, &d)
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
func (t *Tx) Redeliver(r DeliveryRef) (Delivery, error) {
	d, err := t.Delivery(r)
	if err != nil {
		return d, err
	}
	if d.State == DeliveryWaits {
		return d, fault.Conflict.Errorf("delivery %s: is under way", r.Delivery)
	}
	d.State, d.Finished = DeliveryWaits, time.Time{}
	return d, t.sendDelivery(&d)
}

// WebhookKeys returns the keys that sign for a webhook now, the newest first, for what sends events.
func (t *Tx) WebhookKeys(hook string) (keys [][]byte, err error) {
	if !t.as.System {
		return nil, fault.Denied.Errorf("webhook %s: its secret is not shown", hook)
	}
	var all []webhookSecret
	if _, err := t.secret(webhookSecrets).Get(hook, &all); err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Until.IsZero() || t.now.Before(s.Until) {
			keys = append(keys, s.Key)
		}
	}
	return keys, nil
}

// Tried notes how a try of a delivery ended, and what it says about its webhook; for what sends events.
func (t *Tx) Tried(w Webhook, d Delivery) error {
	if !t.as.System {
		return fault.Denied.Errorf("delivery %s: is not written by hand", d.ID)
	}
	var now Webhook
	ok, err := t.secret(webhooksTable).Get(w.ID, &now)
	if err != nil || !ok {
		return err
	}
	if err := t.secret(deliveriesTable).Put(deliveryKey(w.ID, &d), d); err != nil {
		return err
	}
	if d.State != DeliveryWaits {
		if err := t.dropDeliveries(w.ID, keptDeliveries); err != nil {
			return err
		}
	}
	same := now.Failures == w.Failures && now.Disabled == w.Disabled && now.Next.Equal(w.Next)
	if same {
		return nil
	}
	now.Failures, now.Failing, now.Next = w.Failures, w.Failing, w.Next
	if w.Disabled && !now.Disabled {
		now.Disabled, now.Reason = true, w.Reason
		return t.putWebhook(now)
	}
	return t.secret(webhooksTable).Put(w.ID, now)
}

// dropDeliveries removes the deliveries of a webhook beyond the newest ones that are finished.
func (t *Tx) dropDeliveries(hook string, keep int) error {
	var drop []Delivery
	n := 0
	for row, err := range t.secret(deliveriesTable).rows(hook+"/", hook+"0", false, 0) {
		if err != nil {
			return err
		}
		var d Delivery
		if err := json.Unmarshal(row.Value, &d); err != nil {
			return fault.Internal.Errorf("delivery: %w", err)
		}
		if n++; n > keep && (keep == 0 || d.State != DeliveryWaits) {
			drop = append(drop, d)
		}
	}
	for _, d := range drop {
		if err := firstError(t.secret(deliveriesTable).Delete(deliveryKey(hook, &d)), t.secret(deliveriesTable).Delete(d.ID)); err != nil {
			return err
		}
	}
	return nil
}
