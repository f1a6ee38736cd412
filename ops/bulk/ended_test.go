package bulk_test

import (
	"cmp"
	"testing"

	"catena/engine"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/directory/record"
	"catena/storage/oauth"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// begun is what a command was begun by, and what happens to it.
type begun struct {
	as     *engine.Principal
	ends   func() error
	goesOn bool
}

// signing are the ways in which bob signs in, each with what may become of it.
func (w *world) signing() map[string]func() begun {
	return map[string]func() begun{
		"key":            w.key,
		"another key":    func() begun { b := w.key(); return begun{b.as, w.key().ends, true} },
		"user":           func() begun { return begun{as: w.key().as, ends: w.writes(gone)} },
		"user made anew": func() begun { return begun{as: w.key().as, ends: w.writes(remade)} },
		"device":         func() begun { return w.device("one") },
		"another device": func() begun { b := w.device("one"); return begun{b.as, w.device("two").ends, true} },
		"session":        w.session,
		"another session": func() begun {
			b := w.session()
			return begun{b.as, w.session().ends, true}
		},
		"password":             func() begun { return begun{as: w.password(), ends: w.writes(renewed)} },
		"password of sessions": func() begun { return begun{as: w.session().as, ends: w.writes(renewed)} },
		"session beside":       func() begun { return begun{w.password(), w.session().ends, true} },
		"access token":         func() begun { return w.access(func(tx *storage.Tx) error { return oauth.End(tx, "bob", "open") }) },
		"client": func() begun {
			return w.access(func(tx *storage.Tx) error {
				return clients(tx, func(d *record.Directory) error { return d.Delete("1") })
			})
		},
		"access token refreshed": w.refreshed,
	}
}

func gone(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") }

func remade(tx *storage.Tx) error {
	return cmp.Or(gone(tx), people.SaveUser(tx, &people.User{Username: "bob"}, storagetest.Password))
}

func renewed(tx *storage.Tx) error { return people.SetPassword(tx, "bob", "another") }

func clients(tx *storage.Tx, fn func(d *record.Directory) error) error {
	d, err := record.In(tx, "oauth2Clients")
	if err != nil {
		return err
	}
	return fn(d)
}

// writes returns what carries out a change as the system.
func (w *world) writes(fn func(tx *storage.Tx) error) func() error {
	return func() error { return w.Update(w.t.Context(), w.System(), fn) }
}

func (w *world) key() begun {
	var key credential.Key
	var text string
	w.must(w.writes(func(tx *storage.Tx) (err error) {
		key, text, err = credential.CreateKey(tx, credential.Key{User: "bob", Scope: credential.ScopeWrite})
		return err
	})())
	as, err := credential.SignInKey(w.t.Context(), w.Repo, text)
	w.must(err)
	return begun{as: as, ends: w.writes(func(tx *storage.Tx) error { return credential.RevokeKey(tx, key.ID) })}
}

func (w *world) password() *engine.Principal {
	as, err := credential.SignIn(w.t.Context(), w.Repo, "bob", storagetest.Password)
	w.must(err)
	return as
}

func (w *world) device(id string) begun {
	token := ""
	w.must(w.Update(w.t.Context(), w.password(), func(tx *storage.Tx) (err error) {
		token, err = credential.AcquireToken(tx, credential.DeviceToken{Application: "Drive", Device: id, Permission: "ReadWrite"})
		return err
	}))
	as, err := credential.SignInToken(w.t.Context(), w.Repo, token)
	w.must(err)
	return begun{as: as, ends: w.writes(func(tx *storage.Tx) error { return credential.RevokeToken(tx, token) })}
}

func (w *world) session() begun {
	token, _, err := credential.OpenSession(w.t.Context(), w.Repo, "bob", storagetest.Password)
	w.must(err)
	as, err := credential.SignInSession(w.t.Context(), w.Repo, token)
	w.must(err)
	return begun{as: as, ends: func() error { return credential.EndSession(w.t.Context(), w.Repo, token) }}
}

// grant lets a program act for bob.
func (w *world) grant() (*engine.Principal, *oauth.Token) {
	w.must(w.writes(func(tx *storage.Tx) error {
		return clients(tx, func(d *record.Directory) error {
			_, err := d.Create(map[string]any{"clientId": "open", "name": "Open", "redirectURIs": "https://example.org/", "enabled": true})
			return err
		})
	})())
	token, err := oauth.Carry(w.t.Context(), w.Repo, oauth.Grant{Client: "open", User: "bob"})
	w.must(err)
	as, err := oauth.SignIn(w.t.Context(), w.Repo, token.Access)
	w.must(err)
	return as, token
}

func (w *world) access(ends func(tx *storage.Tx) error) begun {
	as, _ := w.grant()
	return begun{as: as, ends: w.writes(ends)}
}

// refreshed goes on: the program still acts for bob.
func (w *world) refreshed() begun {
	as, token := w.grant()
	return begun{as, func() error {
		_, err := oauth.Carry(w.t.Context(), w.Repo, oauth.Grant{Client: "open", Refresh: token.Refresh})
		return err
	}, true}
}

// TestEnded ends what a command rests on while its third batch is under way: nothing of that batch is done,
// and no further one. What else ends does not end it.
func TestEnded(t *testing.T) {
	for name := range newWorld(t).signing() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			b := w.signing()[name]()
			changes := 0
			w.OnEvent(func(_ *storage.Tx, e storage.Event) error {
				if e.Name != "documentModified" {
					return nil
				}
				if changes++; changes == 9 {
					return b.ends()
				}
				return nil
			})
			cmd, _ := w.valueAs(b.as, "Bulk.RunAction", map[string]any{
				"action": "setProperties", "query": "SELECT * FROM File ORDER BY ecm:name", "parameters": `{"dc:title": "all"}`, "batchSize": 4,
			}).(map[string]any)
			id, _ := cmd["commandId"].(string)
			got, done := w.work(id), w.count("SELECT * FROM File WHERE dc:title = 'all'")
			if b.goesOn {
				if got["state"] != "COMPLETED" || done != 20 {
					t.Errorf("%d documents changed, status %v", done, got)
				}
				return
			}
			if got["state"] != "ABORTED" || got["processed"] != 8 || got["errorMessage"] == nil || done != 6 {
				t.Errorf("%d documents changed, status %v", done, got)
			}
		})
	}
}
