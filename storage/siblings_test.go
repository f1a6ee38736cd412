package storage_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/credential"
	"catena/storage/fault"
	"catena/storage/maintenance"
	"catena/storage/people"
	"catena/storage/search"
)

// sibling opens a further repository of a world's store.
func (w *world) sibling(name string) *world {
	w.t.Helper()
	other := *w
	var err error
	other.Repo, err = storage.Open(context.Background(), storage.Config{
		Name: name, First: w.Repo, Types: w.Types(), Clock: func() time.Time { return w.now }, PasswordMemory: 64,
	}, "")
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := other.Close(); err != nil {
			w.t.Error(err)
		}
	})
	return &other
}

// Two repositories of a server have the same people and nothing else in common.
func TestTwoRepositories(t *testing.T) {
	first := newWorld(t)
	second := first.sibling("archive")
	ctx, system := context.Background(), first.System()
	if got := second.Names(); !slices.Equal(got, []string{"archive", "default"}) {
		t.Errorf("names %v", got)
	}
	var here, there *storage.Doc
	first.update(system, func(tx *storage.Tx) (err error) {
		if err := people.SaveUser(tx, &people.User{Username: "pat"}, "a password"); err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		here, err = tx.Create(root, "Folder", "plans", nil)
		return err
	})
	pat, err := credential.SignIn(ctx, second.Repo, "pat", "a password")
	if err != nil {
		t.Fatal(err)
	}
	second.update(system, func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		there, err = tx.Create(root, "Folder", "plans", storage.Props{"dc:title": "Other plans"})
		if err != nil {
			return err
		}
		_, err = tx.SetACL(there, "local", []storage.ACE{{User: "pat", Permission: "Everything", Granted: true}})
		return err
	})
	if there.Repository() != "archive" || there.ID() == here.ID() || there.Path() != here.Path() {
		t.Errorf("%s %s and %s %s", there.Repository(), there.ID(), here.ID(), here.Path())
	}
	second.update(pat, func(tx *storage.Tx) error {
		d, err := tx.Doc("/plans")
		if err != nil {
			return err
		}
		if _, err = tx.Create(d, "Note", "note", nil); err != nil {
			return err
		}
		_, err = tx.Doc(storage.Ref(here.ID()))
		wantKind(t, err, fault.NotFound, here.ID())
		return nil
	})
	first.update(pat, func(tx *storage.Tx) error {
		d, err := tx.Doc("/plans")
		if err != nil {
			return err
		}
		_, err = tx.Create(d, "Note", "note", nil)
		wantKind(t, err, fault.Denied, "pat")
		page, err := search.Query(tx, "SELECT * FROM Document WHERE dc:title = 'Other plans'", search.Options{})
		if err == nil && len(page.Docs) != 0 {
			err = errors.New("the other repository's folder was found")
		}
		return err
	})
	first.update(system, func(tx *storage.Tx) error { return people.DeleteUser(tx, "pat") })
	if _, err := credential.SignIn(ctx, second.Repo, "pat", "a password"); !fault.Is(err, fault.Denied) {
		t.Errorf("signing in after the user is gone: %v", err)
	}
	for _, w := range []*world{first, second} {
		if problems, err := maintenance.Verify(ctx, w.Repo); err != nil || len(problems) > 0 {
			t.Errorf("%s: %v %v", w.Name(), problems, err)
		}
	}
}

// Content that only a further repository needs outlives the sweeps of both.
func TestContentOfRepositories(t *testing.T) {
	first := newWorld(t, func(c *storage.Config) { c.BlobGrace = time.Nanosecond })
	second := first.sibling("archive")
	ctx, system := context.Background(), first.System()
	var id string
	second.update(system, func(tx *storage.Tx) error {
		b, err := tx.NewBlob("a.txt", "text/plain", strings.NewReader("only there"))
		if err != nil {
			return err
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "File", "a", storage.Props{"file:content": b})
		id = d.ID()
		return err
	})
	if err := errors.Join(first.Sweep(ctx), second.Sweep(ctx)); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*world{first, second} {
		var backup bytes.Buffer
		if err := maintenance.Backup(ctx, w.Repo, w.System(), &backup); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"only there", "administrators"} {
			if !bytes.Contains(backup.Bytes(), []byte(text)) {
				t.Errorf("the backup of %s lacks %q", w.Name(), text)
			}
		}
	}
	if problems, err := maintenance.Verify(ctx, second.Repo); err != nil || len(problems) > 0 {
		t.Errorf("%v %v", problems, err)
	}
	second.update(system, func(tx *storage.Tx) error {
		d, err := tx.Doc(storage.Ref(id))
		if err != nil {
			return err
		}
		return tx.Delete(d)
	})
}

// A repository that was declared is there at every start, and only names that fit are taken.
func TestDeclaredRepositories(t *testing.T) {
	w, ctx := newWorld(t), context.Background()
	for _, tt := range []struct {
		names []string
		want  string
		kind  fault.Kind
	}{
		{nil, "", 0},
		{[]string{"legal", "archive"}, "archive legal", 0},
		{[]string{"legal"}, "archive legal", 0},
		{[]string{"Default"}, "", fault.Invalid},
		{[]string{"a/b"}, "", fault.Invalid},
		{nil, "archive legal", 0},
	} {
		got, err := w.Declare(ctx, tt.names...)
		if strings.Join(got, " ") != tt.want || tt.kind == 0 && err != nil || tt.kind != 0 && !fault.Is(err, tt.kind) {
			t.Errorf("%v: got %v %v, want %q", tt.names, got, err, tt.want)
		}
	}
	if _, err := storage.Open(ctx, storage.Config{Name: "default", First: w.Repo, Types: w.Types()}, ""); !fault.Is(err, fault.Exists) {
		t.Errorf("the same name twice: %v", err)
	}
}
