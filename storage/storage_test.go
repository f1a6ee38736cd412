package storage_test

import (
	"context"
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/maintenance"
	"catena/storage/memory"
	"catena/storage/owner"
	"catena/storage/schema"

	"github.com/google/uuid"
)

// world is a repository in memory with a clock that tests move.
type world struct {
	*storage.Repo
	t     testing.TB
	db    *kv.DB
	dir   string // of the store, if it is on the disk
	blobs *blob.Store
	now   time.Time
	ids   uint64
}

const adminPassword = "correct horse"

func newWorld(t testing.TB, change ...func(*storage.Config)) *world {
	t.Helper()
	types, err := schema.Load(schema.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open("", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, blobs: blobs, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	w.db = kv.New(memory.New(), kv.Options{})
	c := storage.Config{
		DB: w.db, Blobs: blobs, Types: types, Owners: owner.All, Log: slog.New(slog.DiscardHandler),
		Clock: func() time.Time { return w.now },
		NewID: func() string {
			w.ids++
			var id uuid.UUID
			binary.BigEndian.PutUint64(id[8:], w.ids)
			return id.String()
		},
		PasswordMemory: 64,
	}
	for _, fn := range change {
		fn(&c)
	}
	if w.Repo, err = storage.Open(context.Background(), c, adminPassword); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		blobs.Close()
		w.db.Close()
	})
	return w
}

// user is a principal with groups, besides members.
func user(name string, groups ...string) *storage.Principal {
	return &storage.Principal{Name: name, Groups: append([]string{"members"}, groups...)}
}

func (w *world) update(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	if err := w.Update(context.Background(), as, fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) view(as *storage.Principal, fn func(*storage.Tx) error) {
	w.t.Helper()
	if err := w.View(context.Background(), as, fn); err != nil {
		w.t.Fatal(err)
	}
}

// make creates a document at a path as the system.
func (w *world) make(path, typ string, p storage.Props) {
	w.t.Helper()
	w.update(w.System(), func(t *storage.Tx) error { return mk(t, path, typ, p) })
}

func mk(t *storage.Tx, path, typ string, p storage.Props) error {
	cut := strings.LastIndexByte(path, '/')
	parent, err := t.Doc(storage.Ref(path[:max(cut, 1)]))
	if err != nil {
		return err
	}
	_, err = t.Create(parent, typ, path[cut+1:], p)
	return err
}

// grant gives permissions on a document, written "user:permission" or "-user:permission".
func (w *world) grant(path string, entries ...string) {
	w.t.Helper()
	w.update(w.System(), func(t *storage.Tx) error {
		d, err := t.Doc(storage.Ref(path))
		if err != nil {
			return err
		}
		var aces []storage.ACE
		for _, e := range entries {
			who, deny := strings.CutPrefix(e, "-")
			name, permission, _ := strings.Cut(who, ":")
			aces = append(aces, storage.ACE{User: name, Permission: permission, Granted: !deny})
		}
		_, err = t.SetACL(d, "local", aces)
		return err
	})
}

// on runs fn with a document, as somebody, and returns the error.
func (w *world) on(as *storage.Principal, path string, fn func(*storage.Tx, *storage.Doc) error) error {
	return w.Update(context.Background(), as, func(t *storage.Tx) error {
		d, err := t.As(w.System()).Doc(storage.Ref(path))
		if err != nil {
			return err
		}
		return fn(t, d)
	})
}

// rows counts the rows of a key space.
func (w *world) rows(space string) (n int) {
	w.t.Helper()
	if err := w.db.View(context.Background(), func(k *kv.Tx) (err error) {
		n, _, err = k.Count(kv.Prefix([]byte(space)), 1_000_000)
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return n
}

func wantKind(t testing.TB, err error, k fault.Kind, part string) {
	t.Helper()
	if !fault.Is(err, k) || !strings.Contains(err.Error(), part) {
		t.Errorf("got %v (%v), want %v with %q", err, fault.Of(err), k, part)
	}
}

func TestFreshRepository(t *testing.T) {
	w := newWorld(t)
	w.view(user("bob"), func(tx *storage.Tx) error {
		var got []string
		var walk func(d *storage.Doc) error
		walk = func(d *storage.Doc) error {
			got = append(got, d.Path()+" "+d.Type().Name+" "+d.Title()+" "+d.State()+" "+d.ChangeToken()+" "+d.VersionLabel())
			for c, err := range tx.EachChild(d) {
				if err != nil {
					return err
				}
				if err := walk(c); err != nil {
					return err
				}
			}
			return nil
		}
		root, err := tx.Root()
		if err != nil {
			return err
		}
		if err := walk(root); err != nil {
			return err
		}
		want := []string{
			"/ Root  project 0-0 ",
			"/default-domain Domain Domain project 0-0 ",
			"/default-domain/workspaces WorkspaceRoot Workspaces project 0-0 ",
			"/default-domain/sections SectionRoot Sections project 0-0 ",
			"/default-domain/templates TemplateRoot Templates project 0-0 ",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
	if problems, err := maintenance.Verify(context.Background(), w.Repo); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v %v", problems, err)
	}
}

func TestCreateGetSave(t *testing.T) {
	w := newWorld(t)
	w.make("/ws", "Workspace", nil)
	w.make("/ws/a.txt", "File", storage.Props{"dc:title": "A", "dc:subjects": []string{"x", "y"}})
	w.now = w.now.Add(time.Second)
	w.update(w.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/ws/a.txt")
		if err != nil {
			return err
		}
		if d.Dirty() || !d.Saved() || d.Title() != "A" {
			t.Errorf("read: dirty %t, saved %t, title %q", d.Dirty(), d.Saved(), d.Title())
		}
		if err := d.Set("dc:title", "A"); err != nil {
			return err
		}
		if d, err = tx.Save(d, storage.SaveOptions{ChangeToken: "7-0"}); err != nil {
			return err
		}
		if d.ChangeToken() != "0-0" {
			t.Errorf("equal value changed the token to %s", d.ChangeToken())
		}
		if err := d.Set("dc:subjects/1", "z"); err != nil {
			return err
		}
		if d, err = tx.Save(d, storage.SaveOptions{}); err != nil {
			return err
		}
		if d.ChangeToken() != "1-1" || d.Dirty() {
			t.Errorf("saved: token %s, dirty %t", d.ChangeToken(), d.Dirty())
		}
		err = d.Set("dc:title", "B")
		if err != nil {
			return err
		}
		_, err = tx.Save(d, storage.SaveOptions{ChangeToken: "1-0"})
		wantKind(t, err, fault.Conflict, d.ID()+", Invalid change token")
		return nil
	})
	w.view(user("bob"), func(tx *storage.Tx) error {
		d, err := tx.Doc("/ws/a.txt")
		if err != nil {
			return err
		}
		got := string(d.AppendProperties(nil, func(s string) bool { return s == "dublincore" }, nil))
		for _, part := range []string{`"dc:title":"A"`, `"dc:subjects":["x","z"]`, `"dc:modified":"2026-03-01T12:00:01.000Z"`, `"dc:created":"2026-03-01T12:00:00.000Z"`, `"dc:creator":"system"`, `"dc:nature":null`} {
			if !strings.Contains(got, part) {
				t.Errorf("%s is missing in %s", part, got)
			}
		}
		return nil
	})
}

// TestCreator creates documents that name their creator, as different users.
func TestCreator(t *testing.T) {
	w := newWorld(t)
	admin := user("root")
	admin.Admin = true
	w.update(admin, func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.SetACL(root, "local", []storage.ACE{{User: "bob", Permission: "ReadWrite", Granted: true}})
		return err
	})
	for _, c := range []struct {
		as          *storage.Principal
		given, want string
	}{
		{admin, "ann", "ann"},
		{admin, "", "root"},
		{user("bob"), "ann", "bob"},
	} {
		w.update(c.as, func(tx *storage.Tx) error {
			root, err := tx.Root()
			if err != nil {
				return err
			}
			p := storage.Props{}
			if c.given != "" {
				p["dc:creator"] = c.given
			}
			d, err := tx.Create(root, "File", "a", p)
			if err != nil {
				return err
			}
			creator, _ := d.Get("dc:creator")
			last, _ := d.Get("dc:lastContributor")
			if creator != c.want || last != c.as.Name {
				t.Errorf("%s as %s: created by %v, last changed by %v", c.given, c.as.Name, creator, last)
			}
			return nil
		})
	}
}
