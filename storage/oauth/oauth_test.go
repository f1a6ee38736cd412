package oauth_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/oauth"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// TestCode: a code is good once, for ten minutes, for the client and the address it was made for.
func TestCode(t *testing.T) {
	w := newWorld(t)
	const back = "https://example.org/back"
	code := w.code("bob", oauth.Request{Client: "open", RedirectURI: back})
	good := oauth.Grant{Client: "open", Code: code, RedirectURI: back}
	for _, x := range []struct {
		change func(g *oauth.Grant)
		want   string
	}{
		{func(g *oauth.Grant) { g.Code = "" }, "invalid_request"},
		{func(g *oauth.Grant) { g.Code += "x" }, "invalid_grant"},
		{func(g *oauth.Grant) { g.Client = "" }, "invalid_request"},
		{func(g *oauth.Grant) { g.Client = "nobody" }, "invalid_client"},
		{func(g *oauth.Grant) { g.Client, g.Secret = "kept", "hush hush" }, "invalid_grant"},
		{func(g *oauth.Grant) { g.RedirectURI = "" }, "invalid_grant"},
		{func(g *oauth.Grant) { g.RedirectURI = "my://back" }, "invalid_grant"},
	} {
		g := good
		x.change(&g)
		w.refused(g, x.want)
	}
	w.Now = w.Now.Add(10*time.Minute - time.Millisecond)
	w.signedIn("a code", w.token(good).Access, "bob")
	w.refused(good, "invalid_grant")

	late := w.code("bob", oauth.Request{Client: "open"})
	w.Now = w.Now.Add(10 * time.Minute)
	w.refused(oauth.Grant{Client: "open", Code: late}, "invalid_grant")

	for _, as := range []*storage.Principal{{}, w.System()} {
		if _, err := oauth.Authorize(t.Context(), w.Repo, as, oauth.Request{Client: "open"}); !errors.Is(err, storage.ErrNobody) {
			t.Errorf("%q grants: %v", as.Name, err)
		}
	}
	reader := *w.principal("bob")
	reader.ReadOnly = true
	_, err := oauth.Authorize(t.Context(), w.Repo, &reader, oauth.Request{Client: "open"})
	storagetest.WantKind(t, err, fault.Denied, "read-only")
}

// TestCodeAtOnce has a code used many times in one moment: once it is good.
func TestCodeAtOnce(t *testing.T) {
	w := newWorld(t)
	g := oauth.Grant{Client: "open", Code: w.code("bob", oauth.Request{Client: "open"})}
	var mu sync.Mutex
	var wg sync.WaitGroup
	good := 0
	for range 8 {
		wg.Go(func() {
			token, err := w.carry(g)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && token.Access != "" {
				good++
			}
		})
	}
	wg.Wait()
	if good != 1 {
		t.Errorf("good %d times", good)
	}
}

// TestProof: a code that was asked for with a challenge is of use only with its verifier; a wrong one
// does not use it up.
func TestProof(t *testing.T) {
	w := newWorld(t)
	const verifier = "a verifier that nobody else knows, of 43 characters"
	sum := sha256.Sum256([]byte(verifier))
	hashed := base64.RawURLEncoding.EncodeToString(sum[:])
	for _, x := range []struct {
		method, challenge, good string
		wrong                   []string
	}{
		{"S256", hashed, verifier, []string{"", hashed, verifier + "x"}},
		{"plain", verifier, verifier, []string{"", hashed, verifier[1:]}},
		{"", verifier, verifier, []string{"", hashed}},
		{"", "", "", nil},
		{"", "", verifier, nil}, // not asked for
	} {
		g := oauth.Grant{Client: "open", Code: w.code("bob", oauth.Request{Client: "open", Challenge: x.challenge, Method: x.method})}
		for _, g.Verifier = range x.wrong {
			w.refused(g, "invalid_grant")
		}
		g.Verifier = x.good
		w.signedIn("the verifier", w.token(g).Access, "bob")
		w.refused(g, "invalid_grant")
	}
}

// TestRefresh: a refresh replaces both values. What was replaced is unused any longer, and does the token
// that took its place no harm.
func TestRefresh(t *testing.T) {
	w := newWorld(t)
	first := w.token(oauth.Grant{Client: "open", User: "bob"})
	w.refused(oauth.Grant{Client: "open", Refresh: first.Access}, "invalid_grant")
	w.refused(oauth.Grant{Client: "kept", Secret: "hush hush", Refresh: first.Refresh}, "invalid_grant")
	second := w.token(oauth.Grant{Client: "open", Refresh: first.Refresh})
	if second.Access == first.Access || second.Refresh == first.Refresh || second.Expires != time.Hour {
		t.Errorf("%+v after %+v", second, first)
	}
	w.signedIn("replaced", first.Access, "")
	w.signedIn("in its place", second.Access, "bob")
	w.refused(oauth.Grant{Client: "open", Refresh: first.Refresh}, "invalid_grant")
	w.signedIn("after the old one was tried", second.Access, "bob")

	w.Now = w.Now.Add(48 * time.Hour)
	w.signedIn("expired", second.Access, "")
	third := w.token(oauth.Grant{Client: "open", Refresh: second.Refresh})
	w.signedIn("a refresh of an expired one", third.Access, "bob")
}

// TestExpiry: a token is good for an hour of the repository's clock, in which a client gets the same again.
func TestExpiry(t *testing.T) {
	w := newWorld(t)
	g := oauth.Grant{Client: "open", User: "bob"}
	first := w.token(g)
	if ann := w.token(oauth.Grant{Client: "open", User: "ann"}); ann.Access == first.Access || w.who(ann.Access) != "ann" {
		t.Error("two users have one token")
	}
	w.Now = w.Now.Add(time.Hour - time.Millisecond)
	w.signedIn("the last moment", first.Access, "bob")
	if again := w.token(g); again.Access != first.Access || again.Refresh != first.Refresh || again.Expires != time.Millisecond {
		t.Errorf("%+v after %+v", again, first)
	}
	as, err := oauth.SignIn(t.Context(), w.Repo, first.Access)
	if err != nil {
		t.Fatal(err)
	}
	w.Now = w.Now.Add(time.Millisecond)
	w.signedIn("an hour later", first.Access, "")
	storagetest.WantKind(t, w.View(t.Context(), as, func(*storage.Tx) error { return nil }), fault.Denied, "sign-in")
	if next := w.token(g); next.Access == first.Access || next.Expires != time.Hour || w.stored(first.Access) {
		t.Errorf("%+v after %+v", next, first)
	}
	w.refused(oauth.Grant{Client: "open", Refresh: first.Refresh}, "invalid_grant") // it went with its row
}

// TestEnds ends what a token rests on: it is not good from then on, even for who is let in already.
func TestEnds(t *testing.T) {
	client := func(w *world, fn func(d *record.Directory, id string) error) {
		w.directory("oauth2Clients", func(d *record.Directory) error { return fn(d, w.ids["open"]) })
	}
	for name, end := range map[string]func(w *world){
		"client disabled": func(w *world) { w.enable("open", false) },
		"client deleted": func(w *world) {
			client(w, func(d *record.Directory, id string) error { return d.Delete(id) })
		},
		"client of another id": func(w *world) {
			client(w, func(d *record.Directory, id string) error {
				_, err := d.Update(id, map[string]any{"clientId": "other"})
				return err
			})
		},
		"row deleted": func(w *world) {
			w.directory("oauth2Tokens", func(d *record.Directory) error { return d.Delete("1") })
		},
		"row dated back": func(w *world) {
			w.directory("oauth2Tokens", func(d *record.Directory) error {
				_, err := d.Update("1", map[string]any{"creationDate": w.Now.Add(-time.Hour)})
				return err
			})
		},
		"token ended": func(w *world) {
			w.Write(w.principal("bob"), func(tx *storage.Tx) error { return oauth.End(tx, "bob", "open") })
		},
		"all ended": func(w *world) {
			w.Write(w.principal("bob"), func(tx *storage.Tx) error { return oauth.EndAll(tx, "bob") })
		},
		"user deleted": func(w *world) {
			w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
		},
		"user made anew": func(w *world) {
			w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
			w.user("bob")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			token, anns := w.token(oauth.Grant{Client: "open", User: "bob"}), w.token(oauth.Grant{Client: "kept", Secret: "hush hush", User: "ann"})
			as, err := oauth.SignIn(t.Context(), w.Repo, token.Access)
			if err != nil {
				t.Fatal(err)
			}
			w.Write(as, func(*storage.Tx) error { return nil })
			end(w)
			w.signedIn(name, token.Access, "")
			w.signedIn("another client's", anns.Access, "ann")
			storagetest.WantKind(t, w.Update(t.Context(), as, func(*storage.Tx) error { return nil }), fault.Denied, "sign-in")
			if _, err := w.carry(oauth.Grant{Client: "open", Refresh: token.Refresh}); (err == nil) != (name == "row dated back") {
				t.Errorf("refreshed: %v", err)
			}
		})
	}
}

// TestEnabledAgain: a client that was disabled for a while has its tokens back.
func TestEnabledAgain(t *testing.T) {
	w := newWorld(t)
	token := w.token(oauth.Grant{Client: "open", User: "bob"})
	w.enable("open", false)
	w.refused(oauth.Grant{Client: "open", User: "bob"}, "invalid_client")
	w.enable("open", true)
	w.signedIn("enabled again", token.Access, "bob")
}

// TestCodeOfAnother: a code of a user who is gone is not that of another one made under the name.
func TestCodeOfAnother(t *testing.T) {
	w := newWorld(t)
	g := oauth.Grant{Client: "open", Code: w.code("bob", oauth.Request{Client: "open"})}
	w.Write(w.System(), func(tx *storage.Tx) error { return people.DeleteUser(tx, "bob") })
	w.refused(g, "invalid_grant")
	w.user("bob")
	w.refused(g, "invalid_grant")
	w.refused(oauth.Grant{Client: "open", User: "nobody"}, "invalid_grant")
}

// TestSecret: a client that has a secret needs it, as often as it may be guessed at.
func TestSecret(t *testing.T) {
	w := newWorld(t)
	for _, secret := range []string{"", "hush", "hush hush ", string(bytes.Repeat([]byte("x"), 5000))} {
		w.refused(oauth.Grant{Client: "kept", Secret: secret, User: "bob"}, "invalid_client")
	}
	good := oauth.Grant{Client: "kept", Secret: "hush hush", User: "bob"}
	w.token(good)
	wrong := oauth.Grant{Client: "kept", Secret: "wrong", User: "bob"}
	for range 10 {
		w.refused(wrong, "invalid_client")
	}
	w.refused(wrong, "too_many_attempts")
	w.token(good) // known by then
	w.Now = w.Now.Add(15 * time.Minute)
	w.refused(wrong, "invalid_client")
}

// TestStored: of codes and of secrets of clients there is a hash in the store. The values of tokens are
// read in their rows by administrators, and given out again.
func TestStored(t *testing.T) {
	w := newWorld(t)
	code := w.code("bob", oauth.Request{Client: "open"})
	if w.stored(code) || w.stored("hush hush") {
		t.Error("a code or a secret is in the store")
	}
	token := w.token(oauth.Grant{Client: "open", Code: code})
	if !w.stored(token.Access) || !w.stored(token.Refresh) {
		t.Error("a token is not in its row")
	}
	unused := w.code("bob", oauth.Request{Client: "open", RedirectURI: "my://unused"})
	w.Now = w.Now.Add(10*time.Minute + time.Millisecond)
	if !w.stored("my://unused") {
		t.Fatal("no row of a code")
	}
	if err := oauth.Owner.Sweep(t.Context(), w.Repo); err != nil || w.stored("my://unused") {
		t.Errorf("a code that is over stays: %v", err)
	}
	w.refused(oauth.Grant{Client: "open", Code: unused}, "invalid_grant")
}

// TestAsk: where a client may be sent back to, and who needs not be asked.
func TestAsk(t *testing.T) {
	w := newWorld(t)
	for _, x := range []struct {
		q       oauth.Request
		back    string
		granted bool
		code    string // of the refusal
	}{
		{q: oauth.Request{Client: "open"}, back: "https://example.org/back"},
		{q: oauth.Request{Client: "open", RedirectURI: "my://back"}, back: "my://back"},
		{q: oauth.Request{Client: "open", RedirectURI: "http://example.org/"}, code: "invalid_request"},
		{q: oauth.Request{Client: "open", RedirectURI: "https://example.org/back/on"}, code: "invalid_request"},
		{q: oauth.Request{Client: "open", Method: "S512"}, code: "invalid_request"},
		{q: oauth.Request{Client: "open", Challenge: string(bytes.Repeat([]byte("x"), 129))}, code: "invalid_request"},
		{q: oauth.Request{Client: "kept"}, back: "https://example.org/", granted: true},
		{q: oauth.Request{Client: "nobody"}, code: "invalid_client"},
		{q: oauth.Request{}, code: "invalid_request"},
	} {
		_, back, granted, err := oauth.Ask(t.Context(), w.Repo, w.principal("bob"), x.q)
		var f *fault.Error
		if x.code != "" && (!errors.As(err, &f) || f.Code.String() != x.code) || x.code == "" && (err != nil || back != x.back || granted != x.granted) {
			t.Errorf("%+v: back to %q, granted %t: %v", x.q, back, granted, err)
		}
	}
	w.token(oauth.Grant{Client: "open", User: "bob"})
	for user, want := range map[string]bool{"bob": true, "ann": false} {
		if _, _, granted, err := oauth.Ask(t.Context(), w.Repo, w.principal(user), oauth.Request{Client: "open"}); err != nil || granted != want {
			t.Errorf("%s has a token: granted %t: %v", user, granted, err)
		}
	}
}

// TestOwn: users look after their own tokens, administrators after anybody's, and neither is shown values.
func TestOwn(t *testing.T) {
	w := newWorld(t)
	w.token(oauth.Grant{Client: "open", User: "bob"})
	w.Now = w.Now.Add(time.Minute)
	w.token(oauth.Grant{Client: "kept", Secret: "hush hush", User: "bob"})
	for _, as := range []*storage.Principal{w.principal("bob"), w.System()} {
		w.Read(as, func(tx *storage.Tx) error {
			rows, err := oauth.Tokens(tx, "bob", "")
			if len(rows) != 2 || rows[0].Text("clientId") != "kept" || rows[1].Text("accessToken")+rows[1].Text("refreshToken") != "" {
				t.Errorf("%s: %v", as.Name, rows)
			}
			return err
		})
	}
	try := func(as *storage.Principal, fn func(tx *storage.Tx) error) error { return w.Update(t.Context(), as, fn) }
	ann := w.principal("ann")
	for name, fn := range map[string]func(tx *storage.Tx) error{
		"list":  func(tx *storage.Tx) error { _, err := oauth.Tokens(tx, "bob", ""); return err },
		"share": func(tx *storage.Tx) error { _, err := oauth.Share(tx, "bob", "open", true, "ann"); return err },
		"end":   func(tx *storage.Tx) error { return oauth.End(tx, "bob", "open") },
		"all":   func(tx *storage.Tx) error { return oauth.EndAll(tx, "bob") },
	} {
		if err := try(ann, fn); !fault.Is(err, fault.Denied) {
			t.Errorf("ann, %s: %v", name, err)
		}
		if err := try(&storage.Principal{}, fn); !errors.Is(err, storage.ErrNobody) {
			t.Errorf("nobody, %s: %v", name, err)
		}
	}
	w.Write(w.principal("bob"), func(tx *storage.Tx) error {
		e, err := oauth.Share(tx, "bob", "open", true, "ann")
		if err != nil || e.Values["isShared"] != true || e.Text("sharedWith") != "ann" || e.Text("accessToken") != "" {
			t.Errorf("shared: %v %v", e, err)
		}
		return err
	})
	storagetest.WantKind(t, try(w.principal("bob"), func(tx *storage.Tx) error { return oauth.End(tx, "bob", "") }), fault.NotFound, "token")
}

// TestClockSetBack makes a token while the clock is ahead: when the clock is right again the token does not last longer than
// others, and its client gets another one at once.
func TestClockSetBack(t *testing.T) {
	for _, ahead := range []time.Duration{5 * time.Hour, 10 * 365 * 24 * time.Hour} {
		w := newWorld(t)
		right := w.Now
		w.Now = right.Add(ahead)
		early, other := w.token(oauth.Grant{Client: "open", User: "bob"}), w.token(oauth.Grant{Client: "open", User: "ann"})
		w.Now = right
		w.signedIn("a token of the future", early.Access, "")
		if next := w.token(oauth.Grant{Client: "open", User: "bob"}); next.Access == early.Access || next.Expires != time.Hour || w.who(next.Access) != "bob" {
			t.Errorf("%+v after %+v", next, early)
		}
		if next := w.token(oauth.Grant{Client: "open", Refresh: other.Refresh}); next.Expires != time.Hour || w.who(next.Access) != "ann" {
			t.Errorf("%+v after %+v", next, other)
		}
		w.Now = right.Add(-30 * time.Second)
		near := w.token(oauth.Grant{Client: "open", User: "ann"})
		w.signedIn("a clock that is corrected by seconds", near.Access, "ann")
	}
}
