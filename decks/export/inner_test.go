package export

import (
	"encoding/json"
	"slices"
	"strconv"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
	"catena/storage/outbox"
	"catena/storage/storagetest"
)

// opened opens a repository, of the store of another one if there is one, whose addresses work for so long.
func opened(t *testing.T, of *storage.Config, span time.Duration, now *time.Time) *storage.Repo {
	t.Helper()
	return storagetest.Open(t, func(c *storage.Config) {
		if of.DB != nil {
			c.DB, c.Blobs = of.DB, of.Blobs
		}
		of.DB, of.Blobs = c.DB, c.Blobs
		c.Clock = func() time.Time { return *now }
		if span != 0 {
			c.Bounds = limit.Set{}.With(Limits{Time: span})
		}
	})
}

// TestShortened has addresses end when download-time is made shorter, and not work again in the last of their time.
func TestShortened(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := now
	var shared storage.Config
	day := opened(t, &shared, 0, &now)
	l := Link{Deck: 1, ID: 1, Expires: strconv.FormatInt(made.Add(24*time.Hour).Unix(), 10), Key: ""}
	l.Signature = l.sign(day)
	open := func(r *storage.Repo, l Link, at time.Duration) fault.Code {
		t.Helper()
		now = made.Add(at)
		err := r.View(t.Context(), r.System(), func(tx *storage.Tx) error {
			_, err := Open(tx, l)
			return err
		})
		if err == nil {
			t.Fatal("an export that does not exist is opened")
		}
		return fault.CodeOf(err)
	}
	// There is no export: one that is looked for has passed the signature and the time.
	for at, want := range map[time.Duration]fault.Code{0: 0, 23*time.Hour + 50*time.Minute: 0, 24 * time.Hour: fault.CodeLinkExpired} {
		if got := open(day, l, at); got != want {
			t.Errorf("after %v: %v, want %v", at, got, want)
		}
	}
	now = made
	quarter := opened(t, &storage.Config{DB: shared.DB, Blobs: shared.Blobs}, 15*time.Minute, &now)
	for _, at := range []time.Duration{0, time.Hour, 23*time.Hour + 50*time.Minute} {
		if got := open(quarter, l, at); got != fault.CodeInvalidSignature {
			t.Errorf("after %v with the shorter time: %v", at, got)
		}
	}
	short := Link{Deck: 1, ID: 1, Expires: strconv.FormatInt(made.Add(15*time.Minute).Unix(), 10), Key: "7"}
	short.Signature = short.sign(quarter)
	if got := open(quarter, short, 20*time.Minute); got != fault.CodeLinkExpired {
		t.Errorf("an address of the shorter time, after it: %v", got)
	}
	if got := open(day, short, 0); got != fault.CodeInvalidSignature {
		t.Errorf("with the longer time again: %v", got)
	}
}

// TestListed finds the exports of a user however many newer ones others have.
func TestListed(t *testing.T) {
	w := storagetest.NewWorld(t)
	const own = 3
	var bob *storage.Principal
	w.Write(w.System(), func(tx *storage.Tx) error {
		bob = &storage.Principal{Name: "bob", ID: 7}
		for id := range int64(maxListed + 10) {
			e := &Export{Deck: 1, ID: id + 1, Owned: storage.Owned{Owner: "alice", OwnerID: 6}, Status: Pending}
			if id < own {
				e.Owned = storage.OwnedBy(bob)
			}
			if err := e.save(tx); err != nil {
				return err
			}
		}
		return nil
	})
	w.Read(w.System(), func(tx *storage.Tx) error {
		all, err := List(tx.As(bob), 1)
		var ids []int64
		for _, e := range all {
			ids = append(ids, e.ID)
		}
		if err != nil || !slices.Equal(ids, []int64{3, 2, 1}) {
			t.Errorf("bob has %v: %v", ids, err)
		}
		if all, err := List(tx, 1); err != nil || len(all) != maxListed || all[0].ID != maxListed+10 {
			t.Errorf("the server finds %d: %v", len(all), err)
		}
		return nil
	})
}

// TestThumbOwner has a picture drawn as the user who owned the deck when it was asked for, not as a later one of the name.
func TestThumbOwner(t *testing.T) {
	w := storagetest.NewWorld(t)
	alice := &storage.Principal{Name: "alice", ID: 41}
	w.Write(w.System(), func(tx *storage.Tx) error {
		return AskThumb(tx.As(alice), ThumbRequest{Doc: "d", Slide: 1, Version: "v", Owner: "alice", Base: "http://c"})
	})
	w.Read(w.System(), func(tx *storage.Tx) error {
		jobs, err := outbox.Jobs(tx, "", ThumbJob, 10)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%v %v", jobs, err)
		}
		var data thumbData
		if err := json.Unmarshal(jobs[0].Data, &data); err != nil {
			t.Fatal(err)
		}
		if want := (thumbData{"d", 1, storage.Owned{Owner: "alice", OwnerID: 41}, "http://c"}); data != want {
			t.Errorf("job %+v, want %+v", data, want)
		}
		return nil
	})
	var before thumbData // a job of an earlier version, which has no number
	if err := json.Unmarshal([]byte(`{"Doc":"d","Slide":2,"Owner":"bob","Base":"b"}`), &before); err != nil || before != (thumbData{"d", 2, storage.Owned{Owner: "bob"}, "b"}) {
		t.Errorf("%+v %v", before, err)
	}
}

// TestFindFails passes on why a file of the deck cannot be read, instead of saying that there is none.
func TestFindFails(t *testing.T) {
	w := storagetest.NewWorld(t)
	worker := &Worker{Repo: w.Repo}
	e := &Export{Doc: "d", Base: "http://c"}
	if _, _, err := worker.find(t.Context(), e, "files/1/a.png"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a file that is not there: %v", err)
	}
	w.Write(w.System(), func(tx *storage.Tx) error { // a row that cannot be read
		return tx.Table("deck-files").Put("d/0000000000000000001", "damaged")
	})
	if _, _, err := worker.find(t.Context(), e, "files/1/a.png"); err == nil || fault.Is(err, fault.NotFound) {
		t.Errorf("a file whose row is damaged: %v", err)
	}
}
