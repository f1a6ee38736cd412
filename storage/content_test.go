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
	"catena/storage/maintenance"
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

// TestBlobs follows contents from the documents that hold them to their end: small ones, which
// are rows, and large ones, which are files.
func TestBlobs(t *testing.T) {
	t.Run("small", func(t *testing.T) { followBlobs(t, "") })
	t.Run("large", func(t *testing.T) { followBlobs(t, strings.Repeat("-", 70_000)) })
}

func followBlobs(t *testing.T, filling string) {
	w := newWorld(t, func(c *storage.Config) { c.BlobGrace = -time.Hour })
	ctx := context.Background()
	put := func(path, text string) (held *storage.Blob) {
		t.Helper()
		err := w.on(w.System(), path, func(tx *storage.Tx, d *storage.Doc) error {
			b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader(text+filling))
			if err != nil {
				return err
			}
			if err := errors.Join(d.Set("file:content", b), d.Set("files:files", []any{map[string]any{"file": b}})); err != nil {
				return err
			}
			_, err = tx.Save(d, storage.SaveOptions{})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.view(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(storage.Ref(path))
			if err == nil {
				held, err = d.MainBlob()
			}
			return err
		})
		return held
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
		_, gone1 := first.Bytes(0)
		_, gone2 := second.Bytes(0)
		if (gone1 == nil) != one || (gone2 == nil) != two {
			t.Errorf("kept: %v %v, want %t %t", gone1, gone2, one, two)
		}
		if problems, err := maintenance.Verify(ctx, w.Repo); err != nil || len(problems) > 0 {
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
				if err != nil || string(got) != want+filling {
					t.Errorf("%s: got %q, want %q: %v", path, got, want, err)
				}
			}
			text := string(d.AppendProperties(nil, nil, func(dst []byte, x string, _ *blob.Blob) []byte { return append(dst, `,"data":"http://h/`+x+`"`...) }))
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
	t.Run("small", func(t *testing.T) { raceSweeps(t, []byte("same")) })
	t.Run("large", func(t *testing.T) { raceSweeps(t, bytes.Repeat([]byte("same"), 20_000)) })
}

func raceSweeps(t *testing.T, content []byte) {
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
		w.make("/f", "File", storage.Props{"file:content": blob.FromBytes("a", "text/plain", content)})
		w.view(w.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc("/f")
			if err != nil {
				return err
			}
			b, err := d.MainBlob()
			if err != nil {
				return err
			}
			if data, err := b.Bytes(0); err != nil || !bytes.Equal(data, content) {
				t.Errorf("round %d: %d bytes %v", i, len(data), err)
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
