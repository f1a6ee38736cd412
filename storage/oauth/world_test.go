package oauth_test

import (
	"bytes"
	"errors"
	"testing"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/kv"
	"catena/storage/oauth"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// world is a repository with two users, and clients that differ in whether they have a secret.
type world struct {
	*storagetest.World
	t   *testing.T
	ids map[string]string // of the entries of clients
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: storagetest.NewWorld(t), t: t, ids: map[string]string{}}
	for _, name := range []string{"ann", "bob"} {
		w.user(name)
	}
	for _, c := range []map[string]any{
		{"clientId": "open", "name": "Open", "redirectURIs": "https://example.org/back, my://back, http://example.org/", "enabled": true},
		{"clientId": "kept", "name": "Kept", "redirectURIs": "https://example.org/", "clientSecret": "hush hush", "autoGrant": true, "enabled": true},
	} {
		w.directory("oauth2Clients", func(d *record.Directory) error {
			e, err := d.Create(c)
			if err == nil {
				w.ids[e.Text("clientId")] = e.ID
			}
			return err
		})
	}
	return w
}

func (w *world) user(name string) {
	w.t.Helper()
	w.Write(w.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: name}, "") })
}

func (w *world) directory(name string, fn func(d *record.Directory) error) {
	w.t.Helper()
	w.Write(w.System(), func(tx *storage.Tx) error {
		d, err := record.In(tx, name)
		if err != nil {
			return err
		}
		return fn(d)
	})
}

// enable says whether a client is enabled.
func (w *world) enable(client string, on bool) {
	w.t.Helper()
	w.directory("oauth2Clients", func(d *record.Directory) error {
		_, err := d.Update(w.ids[client], map[string]any{"enabled": on})
		return err
	})
}

func (w *world) principal(name string) *storage.Principal {
	w.t.Helper()
	p, err := w.Principal(w.t.Context(), name)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// code has a user grant what a client asks for.
func (w *world) code(user string, q oauth.Request) string {
	w.t.Helper()
	code, err := oauth.Authorize(w.t.Context(), w.Repo, w.principal(user), q)
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

func (w *world) carry(g oauth.Grant) (*oauth.Token, error) {
	return oauth.Carry(w.t.Context(), w.Repo, g)
}

// token carries out a grant that is good.
func (w *world) token(g oauth.Grant) *oauth.Token {
	w.t.Helper()
	token, err := w.carry(g)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// refused expects a grant to be refused with one of the codes of OAuth 2.
func (w *world) refused(g oauth.Grant, code string) {
	w.t.Helper()
	token, err := w.carry(g)
	var f *fault.Error
	if !errors.As(err, &f) || f.Code.String() != code || token != nil {
		w.t.Errorf("%+v: %v, want %s", g, err, code)
	}
}

// who is the user that an access token is good for, "" if it is not.
func (w *world) who(access string) string {
	w.t.Helper()
	p, err := oauth.SignIn(w.t.Context(), w.Repo, access)
	if err != nil {
		storagetest.WantKind(w.t, err, fault.Denied, "token")
		return ""
	}
	return p.Name
}

// signedIn expects an access token to be good for a user, or with "" for nobody.
func (w *world) signedIn(what, access, user string) {
	w.t.Helper()
	if got := w.who(access); got != user {
		w.t.Errorf("%s: %q is let in, want %q", what, got, user)
	}
}

// stored reports whether a text is anywhere in the store.
func (w *world) stored(text string) (found bool) {
	w.t.Helper()
	if err := w.DB.View(w.t.Context(), func(tx *kv.Tx) error {
		for row, err := range tx.Scan(kv.Range{}) {
			if err != nil {
				return err
			}
			found = found || bytes.Contains(row.Key, []byte(text)) || bytes.Contains(row.Value, []byte(text))
		}
		return nil
	}); err != nil {
		w.t.Fatal(err)
	}
	return found
}
