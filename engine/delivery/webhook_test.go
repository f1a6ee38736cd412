package delivery_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"catena/engine/delivery"
	"catena/storage"
	"catena/storage/keyring"
	"catena/storage/outbox"
	"catena/storage/people"
	"catena/storage/storagetest"
	hooks "catena/storage/webhook"
)

// world is a repository whose webhooks are delivered to a function.
type world struct {
	*storage.Repo
	t     *testing.T
	send  *delivery.Sender
	skip  atomic.Int64
	mu    sync.Mutex
	posts []post
	reply func(post) (int, error)
}

type post struct {
	url  string
	head http.Header
	body string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, reply: func(post) (int, error) { return 204, nil }}
	clock := func() time.Time { return time.Now().Add(time.Duration(w.skip.Load())) }
	w.Repo = storagetest.Open(t, func(c *storage.Config) {
		c.Clock = clock
		c.Owners = slices.DeleteFunc(slices.Clone(c.Owners), func(o storage.Owner) bool { return o.Name == "webhook" }) // those of users who are gone stay
	})
	w.send = delivery.New(w.Repo, w.post, slog.New(slog.DiscardHandler), clock)
	w.as("", func(tx *storage.Tx) error {
		for _, name := range []string{"ada", "bob"} {
			if err := people.SaveUser(tx, &people.User{Username: name}, ""); err != nil {
				return err
			}
		}
		return grant(tx)
	})
	return w
}

// grant lets ada write.
func grant(tx *storage.Tx) error {
	root, err := tx.Root()
	if err != nil {
		return err
	}
	_, err = tx.SetACL(root, "local", []storage.ACE{{User: "ada", Permission: "ReadWrite", Granted: true}})
	return err
}

func (w *world) post(_ context.Context, address string, h http.Header, body []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := post{address, h, string(body)}
	w.posts = append(w.posts, p)
	return w.reply(p)
}

func (w *world) got() []post {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.posts)
}

// as runs fn for a user, or for the system.
func (w *world) as(user string, fn func(tx *storage.Tx) error) {
	w.t.Helper()
	err := w.Update(w.t.Context(), w.System(), func(tx *storage.Tx) error {
		if user != "" {
			p, err := storage.PrincipalOf(tx, user)
			if err != nil {
				return err
			}
			tx = tx.As(p)
		}
		return fn(tx)
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) hook(user string, events ...string) (hook hooks.Webhook, secret string) {
	w.t.Helper()
	w.as(user, func(tx *storage.Tx) (err error) {
		hook, secret, err = hooks.Create(tx, hooks.Webhook{URL: "https://example.org/" + user, Events: events})
		return err
	})
	return hook, secret
}

func (w *world) make(user, name string) {
	w.t.Helper()
	w.as(user, func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		_, err = tx.Create(root, "File", name, storage.Props{"dc:title": "T"})
		return err
	})
}

// work carries out jobs until a condition holds.
func (w *world) work(until func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() {
		done <- outbox.Run(ctx, w.Repo, outbox.Handlers{hooks.JobKind: {Do: w.send.Job}})
	}()
	for !until() && ctx.Err() == nil {
		time.Sleep(3 * time.Millisecond)
	}
	if ctx.Err() != nil {
		w.t.Error("it did not happen")
	}
	cancel()
	if err := <-done; err != nil {
		w.t.Error(err)
	}
}

func (w *world) idle() bool {
	var jobs []outbox.State
	w.as("", func(tx *storage.Tx) (err error) { jobs, err = outbox.Jobs(tx, "", hooks.JobKind, 1000); return err })
	return len(jobs) == 0
}

// busy reports whether a delivery is being carried out.
func (w *world) busy() bool {
	var jobs []outbox.State
	w.as("", func(tx *storage.Tx) (err error) {
		jobs, err = outbox.Jobs(tx, outbox.Runs, hooks.JobKind, 1)
		return err
	})
	return len(jobs) > 0
}

func (w *world) deliveries(hook string) (out []hooks.Delivery) {
	w.t.Helper()
	w.as("", func(tx *storage.Tx) (err error) { out, err = hooks.Deliveries(tx, hook, 0); return err })
	return out
}

// TestMadeAnew makes another user of the name of one who has a webhook: the address is told nothing more, neither
// of what happens then nor of what waits. A webhook without the number of its owner is the name's.
func TestMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		for _, numbered := range []bool{false, true} {
			w := newWorld(t)
			w.as("ada", func(tx *storage.Tx) error {
				as := *tx.Principal()
				if !numbered {
					as.ID = 0
				}
				_, _, err := hooks.Create(tx.As(&as), hooks.Webhook{URL: "https://example.org/ada", Events: []string{"document.created"}})
				return err
			})
			w.make("ada", "waits")
			if anew {
				w.as("", func(tx *storage.Tx) error { return people.DeleteUser(tx, "ada") })
				w.as("", func(tx *storage.Tx) error { return people.SaveUser(tx, &people.User{Username: "ada"}, "") })
				w.as("", grant)
			}
			w.make("ada", "later")
			w.work(w.idle)
			want := 2
			if anew && numbered {
				want = 0
			}
			if posts := w.got(); len(posts) != want {
				t.Errorf("made anew %t, numbered %t: %d posts, want %d: %+v", anew, numbered, len(posts), want, posts)
			}
		}
	}
}

func TestDeliver(t *testing.T) {
	w := newWorld(t)
	hook, secret := w.hook("ada", "document.created", "deck.*")
	w.hook("bob", "*") // may read nothing
	w.make("ada", "f")
	w.as("ada", func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		if err := d.Set("dc:title", "x"); err != nil {
			return err
		}
		if _, err = tx.Save(d, storage.SaveOptions{}); err != nil {
			return err
		}
		return tx.Fire(storage.Event{Name: "deck.created", Doc: d, Extra: map[string]any{"id": 7}})
	})
	rolledBack := errors.New("rolled back")
	if err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		return errors.Join(tx.Fire(storage.Event{Name: "deck.created"}), rolledBack)
	}); !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	w.work(w.idle)
	posts := w.got()
	if len(posts) != 2 {
		t.Fatalf("posts %+v", posts)
	}
	slices.SortFunc(posts, func(a, b post) int { return strings.Compare(a.body, b.body) })
	var m struct {
		Type      string
		Timestamp time.Time
		Data      struct {
			ID       int
			User     string
			Document struct{ UID, Path, Title string }
		}
	}
	i := slices.IndexFunc(posts, func(p post) bool { return strings.Contains(p.body, "deck.created") })
	p := posts[max(i, 0)]
	if err := json.Unmarshal([]byte(p.body), &m); err != nil || m.Type != "deck.created" || m.Data.ID != 7 || m.Data.User != "ada" || m.Data.Document.Path != "/f" || m.Timestamp.IsZero() {
		t.Errorf("body %s: %v", p.body, err)
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	var seconds int64
	if _, err := fmt.Sscan(p.head.Get("webhook-timestamp"), &seconds); err != nil {
		t.Fatal(err)
	}
	want := keyring.Sign([][]byte{key}, p.head.Get("webhook-id"), time.Unix(seconds, 0), []byte(p.body))
	if got := p.head.Get("webhook-signature"); got != want || !strings.HasPrefix(got, "v1,") {
		t.Errorf("signature %s, want %s", got, want)
	}
	if ds := w.deliveries(hook.ID); len(ds) != 2 || ds[0].State != hooks.Done || ds[0].Status != 204 || ds[0].Tries != 1 {
		t.Errorf("deliveries %+v", ds)
	}
}

func TestRotate(t *testing.T) {
	w := newWorld(t)
	hook, _ := w.hook("ada", "document.created")
	w.as("ada", func(tx *storage.Tx) error { _, _, err := hooks.Update(tx, hook, true); return err })
	w.make("ada", "a")
	w.work(w.idle)
	w.skip.Add(int64(25 * time.Hour))
	w.make("ada", "b")
	w.work(w.idle)
	for i, want := range []int{2, 1} {
		if n := len(strings.Fields(w.got()[i].head.Get("webhook-signature"))); n != want {
			t.Errorf("%d signatures, want %d", n, want)
		}
	}
}

// TestFailing: an address that fails is tried again, then given up, and may be told again by hand.
func TestFailing(t *testing.T) {
	w := newWorld(t)
	hook, _ := w.hook("ada", "document.created")
	w.reply = func(post) (int, error) { return 500, nil }
	w.make("ada", "a")
	for n := 1; n <= 8; n++ {
		w.work(func() bool { return len(w.got()) == n && !w.busy() })
		w.skip.Add(int64(time.Hour))
		if n >= 5 {
			w.skip.Add(int64(18 * time.Hour))
		}
		if ds := w.deliveries(hook.ID); ds[0].State == hooks.Failed {
			break
		}
	}
	ds := w.deliveries(hook.ID)
	if len(ds) != 1 || ds[0].State != hooks.Failed || ds[0].Status != 500 || !strings.Contains(ds[0].Failure, "500") {
		t.Fatalf("deliveries %+v", ds)
	}
	w.as("ada", func(tx *storage.Tx) error {
		now, err := hooks.Get(tx, hook.ID)
		if err == nil && (!now.Disabled || now.Reason == "") {
			t.Errorf("not disabled after a day: %+v", now)
		}
		now.Disabled = false
		_, _, err2 := hooks.Update(tx, now, false)
		_, err3 := hooks.Redeliver(tx, hooks.Ref{Webhook: hook.ID, Delivery: ds[0].ID})
		return errors.Join(err, err2, err3)
	})
	w.mu.Lock()
	w.reply = func(post) (int, error) { return 200, nil }
	w.mu.Unlock()
	w.work(w.idle)
	if ds := w.deliveries(hook.ID); ds[0].State != hooks.Done {
		t.Errorf("deliveries %+v", ds)
	}
}

// TestWantsChange has a webhook want something else in the middle of a transaction, and in a part and in a whole that fail:
// each event is told to anyone who wants it then.
func TestWantsChange(t *testing.T) {
	w := newWorld(t)
	hook, _ := w.hook("ada", "document.locked")
	w.make("ada", "a") // is not wanted
	want := func(tx *storage.Tx, events ...string) error {
		hook.Events = events
		_, _, err := hooks.Update(tx, hook, false)
		return err
	}
	lock := func(tx *storage.Tx, locked bool) error {
		d, err := tx.Doc("/a")
		if err == nil && locked {
			_, err = tx.Lock(d)
		} else if err == nil {
			_, err = tx.Unlock(d)
		}
		return err
	}
	w.as("ada", func(tx *storage.Tx) error {
		return errors.Join(lock(tx, true), want(tx, "document.unlocked"), lock(tx, false), lock(tx, true), want(tx, "document.locked"), lock(tx, false))
	})
	fails := errors.New("fails")
	err := w.Update(t.Context(), w.System(), func(tx *storage.Tx) error {
		return errors.Join(want(tx, "*"), lock(tx, true), fails)
	})
	if !errors.Is(err, fails) {
		t.Fatal(err)
	}
	w.as("ada", func(tx *storage.Tx) error {
		if err := tx.Nest(func() error { return errors.Join(want(tx, "*"), lock(tx, true), fails) }); !errors.Is(err, fails) {
			return err
		}
		return errors.Join(lock(tx, true), lock(tx, false))
	})
	var got []string
	for _, d := range w.deliveries(hook.ID) {
		got = append(got, d.Type)
	}
	slices.Sort(got)
	if want := []string{"document.locked", "document.locked", "document.unlocked"}; !slices.Equal(got, want) {
		t.Errorf("told of %v, want %v", got, want)
	}
}

// TestDead: an address that hangs does not hold up the others, and one that is gone is told no more.
func TestDead(t *testing.T) {
	w := newWorld(t)
	dead, _ := w.hook("ada", "document.created")
	w.as("ada", func(tx *storage.Tx) error {
		_, _, err := hooks.Create(tx, hooks.Webhook{URL: "https://example.org/well", Events: []string{"document.created"}})
		return err
	})
	w.reply = func(p post) (int, error) {
		if strings.HasSuffix(p.url, "/ada") {
			return 410, nil
		}
		return 200, nil
	}
	for i := range 5 {
		w.make("ada", fmt.Sprint("f", i))
	}
	w.work(func() bool { w.skip.Add(int64(time.Second)); return w.idle() })
	n := 0
	for _, p := range w.got() {
		if strings.HasSuffix(p.url, "/well") {
			n++
		}
	}
	if n != 5 {
		t.Errorf("%d deliveries to the one that is well", n)
	}
	w.as("ada", func(tx *storage.Tx) error {
		now, err := hooks.Get(tx, dead.ID)
		if !now.Disabled {
			t.Errorf("still told: %+v", now)
		}
		return err
	})
}

// TestRights: what the owner may no longer read when it is to be delivered is not.
func TestRights(t *testing.T) {
	w := newWorld(t)
	hook, _ := w.hook("ada", "document.created")
	w.make("ada", "f")
	w.as("", func(tx *storage.Tx) error {
		d, err := tx.Doc("/f")
		if err != nil {
			return err
		}
		_, err = tx.SetACL(d, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
		return err
	})
	w.work(w.idle)
	if n := len(w.got()); n != 0 {
		t.Errorf("%d posts", n)
	}
	w.as("ada", func(tx *storage.Tx) error { return hooks.Delete(tx, hook.ID) })
	w.make("ada", "g")
	if !w.idle() {
		t.Error("a deleted webhook is told")
	}
}

// TestRemoved holds that anyone who could read documents is told that they are gone, those in a folder as well.
func TestRemoved(t *testing.T) {
	w := newWorld(t)
	w.hook("ada", "document.removed")
	w.hook("bob", "document.removed")
	w.as("ada", func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		folder, err := tx.Create(root, "Folder", "folder", nil)
		if err != nil {
			return err
		}
		_, err = tx.Create(folder, "File", "file", nil)
		return err
	})
	w.as("", func(tx *storage.Tx) error {
		folder, err := tx.Doc("/folder")
		if err != nil {
			return err
		}
		_, err = tx.SetACL(folder, "local", []storage.ACE{{User: "ada", Permission: "Everything", Granted: true}, {User: "Everyone", Permission: "Everything"}})
		return err
	})
	w.as("", func(tx *storage.Tx) error {
		folder, err := tx.Doc("/folder")
		if err != nil {
			return err
		}
		return tx.Delete(folder)
	})
	w.work(w.idle)
	posts := w.got()
	for _, p := range posts {
		if p.url != "https://example.org/ada" || !strings.Contains(p.body, `"document.removed"`) {
			t.Errorf("%s was told %s", p.url, p.body)
		}
	}
	if len(posts) != 2 {
		t.Errorf("%d posts, want 2", len(posts))
	}
}

// TestClockSetBack has an address fail while the clock is ahead: when it is right again deliveries do not wait until the
// clock is there.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.hook("ada", "document.created")
	w.reply = func(post) (int, error) { return 500, nil }
	w.skip.Add(int64(1000 * time.Hour))
	w.make("ada", "a")
	w.work(func() bool { return len(w.got()) == 1 && !w.busy() })
	w.skip.Add(-int64(1000 * time.Hour))
	w.mu.Lock()
	w.reply = func(post) (int, error) { return 200, nil }
	w.mu.Unlock()
	w.make("ada", "b")
	w.work(func() bool { return len(w.got()) == 2 && !w.busy() })
	w.skip.Add(int64(10 * time.Second))
	w.work(w.idle)
	if n := len(w.got()); n != 3 {
		t.Errorf("%d tries, want 3", n)
	}
}
