package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/outbox"
	"catena/storage/storagetest"
)

func TestEvents(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.Limits.EventDepth = 3; c.Limits.EventsACall = 50 })
	var names []string
	loop := false
	w.OnEvent(func(tx *storage.Tx, e storage.Event) error {
		names = append(names, e.Name)
		switch {
		case e.Name == "aboutToCreate" && e.Doc.Name() == "bad":
			return fault.Denied.Errorf("refused")
		case e.Name == "aboutToCreate":
			return e.Doc.Set("dc:source", "listener")
		case e.Name == "again" && loop:
			return tx.Fire(storage.Event{Name: "again"})
		}
		return nil
	})
	w.make("/f", "File", nil)
	if strings.Join(names, " ") != "aboutToCreate documentCreated" {
		t.Errorf("got %v", names)
	}
	err := w.on(w.System(), "/", func(tx *storage.Tx, d *storage.Doc) error {
		err := tx.Nest(func() error { _, err := tx.Create(d, "File", "bad", nil); return err })
		wantKind(t, err, fault.Denied, "refused")
		for range 60 {
			if err := tx.Fire(storage.Event{Name: "again"}); err != nil {
				return err
			}
		}
		return nil
	})
	wantKind(t, err, fault.Limit, "50 events")
	loop = true
	err = w.on(w.System(), "/", func(tx *storage.Tx, d *storage.Doc) error { return tx.Fire(storage.Event{Name: "again", Doc: d}) })
	wantKind(t, err, fault.Limit, "3 levels")
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		if v, err := d.Get("dc:source"); v != "listener" || err != nil {
			t.Errorf("dc:source: %v %v", v, err)
		}
		return nil
	})
	if got := strings.Join(w.events(t, "/f"), " "); got != "documentCreated" {
		t.Error(got)
	}
}

func TestAudit(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", nil)
	w.grant("/f", "bob:ReadWrite")
	for i := range 5 {
		w.now = w.now.Add(time.Minute)
		err := w.on(user("bob"), "/f", func(tx *storage.Tx, d *storage.Doc) error {
			if err := d.Set("dc:title", fmt.Sprint(i)); err != nil {
				return err
			}
			_, err := tx.Save(d, storage.SaveOptions{Comment: fmt.Sprint("comment ", i)})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var id string
	w.view(user("bob"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		id = d.ID()
		f := storage.EntryFilter{DocID: id, Events: []string{"documentModified"}}
		f.Limit = 2
		var got []string
		for {
			page, err := tx.Entries(f)
			if err != nil {
				return err
			}
			if page.Total != 5 {
				t.Errorf("total %d", page.Total)
			}
			for _, e := range page.Entries {
				got = append(got, e.Comment+" "+e.User+" "+e.DocPath+" "+e.DocType+" "+e.Category)
			}
			if f.After = page.Next; f.After == "" {
				break
			}
		}
		for i := range got {
			if want := fmt.Sprintf("comment %d bob /f File eventDocumentCategory", 4-i); got[i] != want {
				t.Errorf("got %s, want %s", got[i], want)
			}
		}
		_, err = tx.Entries(storage.EntryFilter{})
		wantKind(t, err, fault.Denied, "administrators")
		f = storage.EntryFilter{DocID: id, From: w.now.Add(-time.Minute), To: w.now}
		page, err := tx.Entries(f)
		if err != nil || len(page.Entries) != 1 || page.Entries[0].Comment != "comment 3" {
			t.Errorf("between: %v %v", page, err)
		}
		return nil
	})
	w.update(user("bob"), func(tx *storage.Tx) error {
		return tx.LogEntry(storage.Entry{Event: "seen", Category: "Automation", User: "root", DocID: id, Source: "server", Extended: map[string]any{"k": 1}})
	})
	w.view(w.System(), func(tx *storage.Tx) error {
		page, err := tx.Entries(storage.EntryFilter{Users: []string{"bob"}, Events: []string{"seen"}})
		if err != nil || len(page.Entries) != 1 || page.Entries[0].Source != "client" || page.Entries[0].DocType != "File" {
			t.Errorf("seen: %+v %v", page, err)
		}
		return nil
	})
	wantKind(t, w.View(context.Background(), user("eve"), func(tx *storage.Tx) error {
		_, err := tx.Entries(storage.EntryFilter{DocID: "00000000-0000-0000-0000-00000000ffff"})
		return err
	}), fault.NotFound, "")
}

func TestChanges(t *testing.T) {
	w := newWorld(t)
	w.make("/old", "File", nil)
	w.update(w.System(), func(tx *storage.Tx) error {
		storage.RecordChanges(tx)
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "File", "f", nil)
		if err != nil {
			return err
		}
		gone, err := tx.Create(root, "File", "gone", nil)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Set("dc:title", "x"), tx.Delete(gone)); err != nil {
			return err
		}
		if _, err := tx.Save(d, storage.SaveOptions{}); err != nil {
			return err
		}
		err = tx.Nest(func() error {
			if _, err := tx.Create(root, "File", "undone", nil); err != nil {
				return err
			}
			return errors.New("undo")
		})
		if err == nil {
			t.Error("nest lost its error")
		}
		old, err := tx.Doc("/old")
		if err != nil {
			return err
		}
		for _, xpath := range []string{"dc:title", "dc:rights"} {
			if err := old.Set(xpath, "y"); err != nil {
				return err
			}
			if _, err := tx.Save(old, storage.SaveOptions{}); err != nil {
				return err
			}
		}
		if err := outbox.Enqueue(tx, outbox.Job{Kind: "mail"}); err != nil {
			return err
		}
		var got []string
		for _, c := range storage.Changes(tx) {
			got = append(got, c.Kind+" "+c.Path+" "+c.Type+" "+c.Note)
		}
		want := "create /f File ;update /old File dc:title dc:rights;job   mail"
		if strings.Join(got, ";") != want {
			t.Errorf("got %q, want %q", strings.Join(got, ";"), want)
		}
		return nil
	})
}

func TestNestUndoes(t *testing.T) {
	w := newWorld(t)
	w.make("/a", "Folder", nil)
	w.make("/b", "Folder", nil)
	ran := false
	w.update(w.System(), func(tx *storage.Tx) error {
		docs, err := tx.Docs(storage.Refs{"/a", "/b"})
		if err != nil {
			return err
		}
		err = tx.Nest(func() error {
			tx.AfterCommit(func() { ran = true })
			if _, err := tx.Move(docs[0], docs[1], ""); err != nil {
				return err
			}
			return fault.Conflict.Errorf("undo")
		})
		wantKind(t, err, fault.Conflict, "undo")
		a, err := tx.Doc("/a")
		if err != nil {
			return err
		}
		c, err := tx.Create(a, "File", "c", nil)
		if err == nil && c.Path() != "/a/c" {
			t.Errorf("path %s", c.Path())
		}
		return err
	})
	if ran {
		t.Error("what was undone still ran after the commit")
	}
	if problems, err := maintenance.Verify(context.Background(), w.Repo); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}

// TestAwait: an event is awaited once somebody has said so, whatever other names look like it.
func TestAwait(t *testing.T) {
	w := storagetest.NewWorld(t)
	want := func(event string, known bool) {
		t.Helper()
		w.Read(w.System(), func(tx *storage.Tx) error {
			got, err := storage.Awaited(tx, event)
			if got != known {
				t.Errorf("%s is awaited: %t, want %t", event, got, known)
			}
			return err
		})
	}
	await := func(event string) error {
		return w.Update(t.Context(), w.System(), func(tx *storage.Tx) error { return storage.Await(tx, event) })
	}
	want("a", false)
	want("", false)
	for _, event := range []string{"ab", "b", "ab"} {
		if err := await(event); err != nil {
			t.Fatal(err)
		}
	}
	for event, known := range map[string]bool{"a": false, "ab": true, "b": true, "abb": false, "": false} {
		want(event, known)
	}
	storagetest.WantKind(t, await(""), fault.Invalid, "not a name")
	storagetest.WantKind(t, await("a\nb"), fault.Invalid, "not a name")
}
