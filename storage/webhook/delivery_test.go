package webhook_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/people"
	"catena/storage/storagetest"
	"catena/storage/webhook"
)

// TestSweep: of each webhook, the newest 100 finished deliveries and all that wait are kept, one that is made again too.
func TestSweep(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	repo := storagetest.Open(t, func(c *storage.Config) { c.Clock = func() time.Time { return now } })
	ctx := context.Background()
	update := func(as *storage.Principal, fn func(tx *storage.Tx) error) {
		t.Helper()
		if err := repo.Update(ctx, as, fn); err != nil {
			t.Fatal(err)
		}
	}
	update(repo.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "ada"}, "secret-of-ada")
	})
	ada, err := repo.Principal(ctx, "ada")
	if err != nil {
		t.Fatal(err)
	}
	var hooks [2]webhook.Webhook
	for i := range hooks {
		update(ada, func(tx *storage.Tx) (err error) {
			hooks[i], _, err = webhook.Create(tx, webhook.Webhook{URL: "https://example.org/", Events: []string{"*"}})
			return err
		})
	}
	list := func(hook string) (all []webhook.Delivery) {
		t.Helper()
		if err := repo.View(ctx, repo.System(), func(tx *storage.Tx) (err error) {
			all, err = webhook.Deliveries(tx, hook, 0)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return all
	}
	finish := func(hook webhook.Webhook, some func(i int) bool) {
		for i, d := range list(hook.ID) {
			if some(i) {
				d.State = webhook.Done
				update(repo.System(), func(tx *storage.Tx) error { return webhook.Tried(tx, hook, d) })
			}
		}
	}
	for range 250 {
		now = now.Add(time.Second)
		update(ada, func(tx *storage.Tx) error {
			return webhook.Deliver(tx, webhook.Delivery{Webhook: hooks[0].ID, Type: "a", Body: []byte("{}")})
		})
	}
	for range 20 {
		update(ada, func(tx *storage.Tx) error {
			return webhook.Deliver(tx, webhook.Delivery{Webhook: hooks[1].ID, Type: "a", Body: []byte("{}")})
		})
	}
	finish(hooks[0], func(i int) bool { return i%2 == 1 })
	finish(hooks[1], func(int) bool { return true })
	oldest := list(hooks[0].ID)[249]
	update(ada, func(tx *storage.Tx) error {
		_, err := webhook.Redeliver(tx, webhook.Ref{Webhook: hooks[0].ID, Delivery: oldest.ID})
		return err
	})
	if err := repo.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	waits, done := 0, 0
	for _, d := range list(hooks[0].ID) {
		if d.State == webhook.Waits {
			waits++
		} else {
			done++
		}
	}
	if waits != 126 || done != 100 || len(list(hooks[1].ID)) != 20 {
		t.Errorf("%d wait and %d are finished, %d of the other: want 126, 100 and 20", waits, done, len(list(hooks[1].ID)))
	}
	err = repo.View(ctx, repo.System(), func(tx *storage.Tx) error {
		_, err := webhook.DeliveryOf(tx, webhook.Ref{Webhook: hooks[0].ID, Delivery: strings.TrimPrefix(oldest.ID, "msg_")})
		return err
	})
	if err != nil {
		t.Errorf("the one that is made again: %v", err)
	}
}
