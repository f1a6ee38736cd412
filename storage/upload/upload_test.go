package upload_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/storagetest"
	"catena/storage/upload"
)

// TestUploadsEnd checks that batches nobody asks for go, with their content and what they
// count for their user, and that those in use stay.
func TestUploadsEnd(t *testing.T) {
	now := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	r := storagetest.Open(t, func(c *storage.Config) {
		c.Clock = func() time.Time { return now }
		c.BlobGrace = time.Nanosecond
		c.Bounds = c.Bounds.With(upload.Limits{Batches: 2, Bytes: 10})
	})
	bob := &storage.Principal{Name: "bob"}
	update := func(fn func(tx *storage.Tx) error) error { return r.Update(t.Context(), bob, fn) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func() (id string) {
		t.Helper()
		must(update(func(tx *storage.Tx) error {
			b, err := upload.Open(tx, upload.Handler)
			if err == nil {
				id = b.ID
			}
			return err
		}))
		return id
	}
	put := func(id, text string, p upload.Part) error {
		return update(func(tx *storage.Tx) error {
			_, err := upload.Put(tx, id, p, blob.FromBytes("f", "", []byte(text)))
			return err
		})
	}
	first, second := open(), open()
	if err := update(func(tx *storage.Tx) error { _, err := upload.Open(tx, upload.Handler); return err }); !fault.Is(err, fault.Limit) {
		t.Errorf("a third batch: %v", err)
	}
	must(put(first, "12345", upload.Part{}))
	must(put(second, "678", upload.Part{Chunked: true, Count: 2}))
	if err := put(second, "901", upload.Part{Index: 1}); !fault.Is(err, fault.Limit) {
		t.Errorf("more bytes than allowed: %v", err)
	}
	must(put(first, "12", upload.Part{})) // in place of five bytes
	must(put(second, "901", upload.Part{Index: 1}))
	digests := []string{digest("12"), digest("678"), digest("901")}
	there := func() (n int) {
		must(errors.Join(upload.Sweep(t.Context(), r), r.Sweep(t.Context())))
		for _, d := range digests {
			ok, err := r.Blobs().Has(t.Context(), d)
			must(err)
			if ok {
				n++
			}
		}
		return n
	}
	if n := there(); n != 3 {
		t.Errorf("%d contents while in use, want 3", n)
	}
	now = now.Add(23 * time.Hour)
	must(put(first, "12", upload.Part{}))
	now = now.Add(2 * time.Hour)
	if n := there(); n != 1 {
		t.Errorf("%d contents after a day, want 1", n)
	}
	if err := put(second, "x", upload.Part{}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a batch that ended: %v", err)
	}
	must(put(open(), "12345678", upload.Part{})) // the bytes are free again
	must(update(func(tx *storage.Tx) error { return upload.Drop(tx, first) }))
	if n := there(); n != 0 {
		t.Errorf("%d contents in the end", n)
	}
}

// TestGuessedBatches: anyone who tries what batches of others are called, and knows one of them, finds none.
func TestGuessedBatches(t *testing.T) {
	r := storagetest.Open(t, func(c *storage.Config) { c.NewID = nil })
	var id string
	err := r.Update(t.Context(), &storage.Principal{Name: "alice"}, func(tx *storage.Tx) error {
		b, err := upload.Open(tx, upload.Handler)
		if err == nil {
			id = b.ID
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	users := []*storage.Principal{{Name: "bob"}, {Name: "Alice"}, {Name: "alice "}, {Name: "alice\x00" + id}, {}, {Name: "root", Admin: true}, {Name: "bob", Groups: []string{"alice"}}}
	for n := range 10_000 {
		guess := []byte(id)
		for range n % 4 { // none: what it is called
			guess[rnd.IntN(len(guess))] = "0123456789abcdef-/\x00"[rnd.IntN(19)]
		}
		err := r.View(t.Context(), users[n%len(users)], func(tx *storage.Tx) error {
			_, err := upload.BatchOf(tx, string(guess))
			_, err2 := upload.FileOf(tx, string(guess), 0)
			if !fault.Is(err2, fault.NotFound) {
				return err2
			}
			return err
		})
		if !fault.Is(err, fault.NotFound) {
			t.Fatalf("%+v found %q: %v", users[n%len(users)], guess, err)
		}
	}
}

func digest(text string) string { return blob.FromBytes("", "", []byte(text)).Digest }

// TestUploadedNames checks that no name of a file or batch leaves the table's rows.
func TestUploadedNames(t *testing.T) {
	r := storagetest.Open(t, nil)
	for _, id := range []string{"", "x", "../x", "b/", strings.Repeat("x", 2000), "batchId-\x00", "batchId-1/0"} {
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error { _, err := upload.BatchOf(tx, id); return err })
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("batch %.20q: %v", id, err)
		}
	}
}
