package storage_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

func TestLock(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", nil)
	w.grant("/f", "members:ReadWrite", "eve:Unlock")
	bob, eve := user("bob"), user("eve")
	lock := func(tx *storage.Tx, d *storage.Doc) error {
		_, err := tx.Lock(d)
		return err
	}
	unlock := func(tx *storage.Tx, d *storage.Doc) error {
		_, err := tx.Unlock(d)
		return err
	}
	save := func(tx *storage.Tx, d *storage.Doc) error {
		if err := d.Set("dc:title", tx.Principal().Name); err != nil {
			return err
		}
		d, err := tx.Save(d, storage.SaveOptions{ChangeToken: "9-0"})
		if err == nil && d.ChangeToken() == "0-0" {
			t.Error("token did not rise")
		}
		return err
	}
	for range 2 {
		if err := w.on(bob, "/f", lock); err != nil {
			t.Fatal(err)
		}
	}
	w.view(eve, func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		if owner, since, ok := d.Locked(); owner != "bob" || !since.Equal(w.now) || !ok {
			t.Errorf("locked by %q since %v: %t", owner, since, ok)
		}
		wantKind(t, w.on(user("carl"), "/f", unlock), fault.Conflict, "Document already locked by bob: "+d.ID())
		wantKind(t, w.on(eve, "/f", lock), fault.Conflict, "Document already locked by bob: "+d.ID())
		return nil
	})
	wantKind(t, w.on(eve, "/f", save), fault.Denied, "locked by bob")
	if err := w.on(bob, "/f", save); err != nil {
		t.Error(err)
	}
	if err := w.on(eve, "/f", unlock); err != nil {
		t.Error(err)
	}
	if err := w.on(eve, "/f", unlock); err != nil {
		t.Error(err)
	}
	wantKind(t, w.on(eve, "/f", save), fault.Conflict, "Invalid change token")
}

func TestPendingSurvivesOtherChanges(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", nil)
	err := w.on(w.System(), "/f", func(tx *storage.Tx, d *storage.Doc) error {
		if err := errors.Join(d.Set("dc:title", "T"), d.AddFacet("HiddenInNavigation")); err != nil {
			return err
		}
		d, err := tx.Lock(d)
		if err != nil {
			return err
		}
		if !d.Dirty() {
			t.Error("what was set is lost")
		}
		_, err = tx.Save(d, storage.SaveOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		if _, _, locked := d.Locked(); d.Title() != "T" || !d.HasFacet("HiddenInNavigation") || !locked {
			t.Errorf("title %q, facets %v, locked %t", d.Title(), d.Facets(), locked)
		}
		return nil
	})
}

func TestLifeCycleAndTrash(t *testing.T) {
	w := newWorld(t)
	for _, p := range []string{"/d", "/d/e"} {
		w.make(p, "Folder", nil)
	}
	w.make("/d/e/f", "File", nil)
	states := func(want string) {
		t.Helper()
		w.view(w.System(), func(tx *storage.Tx) error {
			var got []string
			for _, p := range []storage.Ref{"/d", "/d/e", "/d/e/f"} {
				d, err := tx.Doc(p)
				if err != nil {
					return err
				}
				got = append(got, fmt.Sprint(d.State(), d.IsTrashed()))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("got %v, want %s", got, want)
			}
			return nil
		})
	}
	follow := func(path, transition string) error {
		return w.on(w.System(), path, func(tx *storage.Tx, d *storage.Doc) error {
			_, err := tx.Follow(d, transition)
			return err
		})
	}
	for _, c := range [][3]string{
		{"/d", "approve", "approvedfalse projectfalse projectfalse"},
		{"/d", "delete", "approvedtrue projecttrue projecttrue"},
		{"/d/e/f", "undelete", "approvedfalse projectfalse projectfalse"},
		{"/d", "backToProject", "projectfalse projectfalse projectfalse"},
		{"/d/e", "obsolete", "projectfalse obsoletefalse projectfalse"},
	} {
		if err := follow(c[0], c[1]); err != nil {
			t.Fatal(err)
		}
		states(c[2])
	}
	wantKind(t, follow("/d/e", "approve"), fault.Conflict, "transition approve is not allowed in state obsolete")
	wantKind(t, follow("/d/e", "fly"), fault.Conflict, "transition fly")
	wantKind(t, follow("/", "delete"), fault.Conflict, "root")
	events := w.events(t, "/d")
	want := "documentCreated lifecycle_transition_event documentTrashed lifecycle_transition_event"
	if strings.Join(events, " ") != want {
		t.Errorf("got %v, want %s", events, want)
	}
}

// events are the audit records of a document, oldest first.
func (w *world) events(t *testing.T, path string) (names []string) {
	w.view(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(path))
		if err != nil {
			return err
		}
		page, err := tx.Entries(storage.EntryFilter{DocID: d.ID(), Ascending: true})
		if err != nil {
			return err
		}
		for _, e := range page.Entries {
			names = append(names, e.Event)
		}
		return nil
	})
	return names
}

func TestSaveMergesFields(t *testing.T) {
	w := newWorld(t)
	w.make("/f", "File", nil)
	err := w.on(w.System(), "/f", func(tx *storage.Tx, a *storage.Doc) error {
		b, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		if err := errors.Join(a.Set("dc:title", "A"), b.Set("dc:description", "B")); err != nil {
			return err
		}
		if _, err := tx.Save(a, storage.SaveOptions{}); err != nil {
			return err
		}
		b, err = tx.Save(b, storage.SaveOptions{})
		if err == nil && (b.Title() != "A" || b.ChangeToken() != "2-2") {
			t.Errorf("title %q, token %s", b.Title(), b.ChangeToken())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.events(t, "/f"), " "); got != "documentCreated documentModified documentModified" {
		t.Error(got)
	}
}

func TestBlobs(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.BlobGrace = -time.Hour })
	ctx := context.Background()
	put := func(path, text string) (digest string) {
		t.Helper()
		err := w.on(w.System(), path, func(tx *storage.Tx, d *storage.Doc) error {
			b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(text))
			if err != nil {
				return err
			}
			digest = b.Digest
			if err := errors.Join(d.Set("file:content", b), d.Set("files:files", []any{map[string]any{"file": b}})); err != nil {
				return err
			}
			_, err = tx.Save(d, storage.SaveOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	w.make("/f", "File", nil)
	w.make("/d", "Folder", nil)
	first := put("/f", "one")
	err := w.on(w.System(), "/f", func(tx *storage.Tx, d *storage.Doc) error {
		to, err := tx.Doc("/d")
		if err != nil {
			return err
		}
		_, err = tx.Copy(d, to, "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	second := put("/f", "two")
	has := func(one, two bool) {
		t.Helper()
		if err := w.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if w.blobs.Has(first) != one || w.blobs.Has(second) != two {
			t.Errorf("kept: %t %t, want %t %t", w.blobs.Has(first), w.blobs.Has(second), one, two)
		}
		if problems, err := w.Verify(ctx); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v %v", problems, err)
		}
	}
	has(true, true)
	w.view(user("bob"), func(tx *storage.Tx) error {
		for path, want := range map[storage.Ref]string{"/d/f": "one", "/f": "two"} {
			d, err := tx.Doc(path)
			if err != nil {
				return err
			}
			all, err := d.AllBlobs()
			if err != nil || len(all) != 2 {
				t.Fatalf("%s: %d blobs, %v", path, len(all), err)
			}
			for _, b := range all {
				r, err := b.Open()
				if err != nil {
					return err
				}
				got, err := io.ReadAll(r)
				r.Close()
				if err != nil || string(got) != want {
					t.Errorf("%s: got %q, want %q: %v", path, got, want, err)
				}
			}
			text := string(d.AppendProperties(nil, nil, func(x string, b *blob.Blob) string { return "http://h/" + x }))
			if !strings.Contains(text, `http://h/files:files/0/file`) || !json.Valid([]byte("{"+text+"}")) {
				t.Errorf("properties: %s", text)
			}
			if text = string(d.AppendProperties(nil, nil, nil)); !json.Valid([]byte("{" + text + "}")) {
				t.Errorf("properties: %s", text)
			}
		}
		return nil
	})
	if err := w.on(w.System(), "/d", func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) }); err != nil {
		t.Fatal(err)
	}
	has(false, true)
	err = w.on(w.System(), "/f", func(tx *storage.Tx, d *storage.Doc) error {
		if err := errors.Join(d.Remove("file:content"), d.Remove("files:files/0")); err != nil {
			return err
		}
		_, err := tx.Save(d, storage.SaveOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	has(false, false)
}

// TestSweepRacesReferences has sweeps remove content while transactions refer to it again.
func TestSweepRacesReferences(t *testing.T) {
	w := newWorld(t, func(c *storage.Config) { c.BlobGrace = -time.Hour })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		for ctx.Err() == nil {
			if err := w.Sweep(context.Background()); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for i := range 200 {
		w.make("/f", "File", storage.Props{"file:content": blob.FromBytes("a", "text/plain", []byte("same"))})
		w.view(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/f")
			if err != nil {
				return err
			}
			b, err := d.MainBlob()
			if err != nil {
				return err
			}
			if data, err := b.Bytes(0); err != nil || !bytes.Equal(data, []byte("same")) {
				t.Errorf("round %d: %q %v", i, data, err)
			}
			return nil
		})
		if err := w.on(w.System(), "/f", func(tx *storage.Tx, d *storage.Doc) error { return tx.Delete(d) }); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

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
			return tx.Fire("again", nil, nil)
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
			if err := tx.Fire("again", nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	wantKind(t, err, fault.Limit, "50 events")
	loop = true
	err = w.on(w.System(), "/", func(tx *storage.Tx, d *storage.Doc) error { return tx.Fire("again", d, nil) })
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
		tx.Record()
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
		if err := tx.Enqueue(storage.Job{Kind: "mail"}); err != nil {
			return err
		}
		var got []string
		for _, c := range tx.Changes() {
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
	if problems, err := w.Verify(context.Background()); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}
