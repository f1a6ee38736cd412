package storage_test

import (
	"testing"

	"catena/storage"
)

// Whether anybody has subscribed is known at once, whatever was known before.
func TestAnySubscription(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "Folder", nil)
	w.grant("/f", "ann:Read")
	any := func() (on bool) {
		w.update(w.System(), func(tx *storage.Tx) (err error) {
			on, err = tx.AnySubscription()
			return err
		})
		return on
	}
	for range 2 {
		if any() {
			t.Error("somebody before anybody")
		}
	}
	w.update(user("ann"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		return tx.Subscribe(d, "Creation")
	})
	for range 2 {
		if !any() {
			t.Error("nobody after somebody")
		}
	}
}
