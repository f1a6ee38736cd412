package decks

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
	"catena/storage/storagetest"
)

// service is the deck operations on a store in memory, with the users alice and bob.
type service struct {
	*engine.Engine
	t     testing.TB
	shift func(time.Duration) // sets the clock
	stop  func()              // stops it, which otherwise goes on by a second each time that it is looked at
}

func newService(t testing.TB) *service {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	at, tick := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Second
	var mu sync.Mutex
	setClock := func(change func()) time.Time {
		mu.Lock()
		defer mu.Unlock()
		change()
		return at
	}
	repo := storagetest.Open(t, func(c *storage.Config) {
		c.Owners = append(slices.Clip(c.Owners), Owners...)
		c.Clock = func() time.Time { return setClock(func() { at = at.Add(tick) }) }
	})
	Listen(repo)
	err := repo.Update(context.Background(), repo.System(), func(tx *storage.Tx) error {
		for _, u := range []people.User{
			{Username: "alice", FirstName: "Alice", LastName: "Liddell", AccountType: "team", TeamID: 7, TeamRole: "owner", BillingPeriod: "yearly"},
			{Username: "bob"},
		} {
			if err := people.SaveUser(tx, &u, "secret"); err != nil {
				return err
			}
		}
		return people.SaveGroup(tx, &people.Group{Name: "team-7", Label: "Wonderland", Users: []string{"alice", "bob"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := engine.NewSet(Ops())
	if err != nil {
		t.Fatal(err)
	}
	return &service{
		engine.New(engine.Config{Repo: repo, Set: set, Log: log}), t,
		func(d time.Duration) { setClock(func() { at = at.Add(d) }) }, func() { setClock(func() { tick = 0 }) },
	}
}

// try runs an operation for a user.
func (s *service) try(user, op, params string) (map[string]any, error) {
	s.t.Helper()
	as, err := s.PrincipalOf(context.Background(), user)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.Run(context.Background(), engine.Call{Op: op, RawParams: json.RawMessage(params), As: as, EntryPoint: engine.REST})
	if err != nil {
		return nil, err
	}
	return res.Value.(map[string]any), nil
}

func (s *service) do(user, op, params string) map[string]any {
	s.t.Helper()
	out, err := s.try(user, op, params)
	if err != nil {
		s.t.Fatalf("%s %s: %v", op, params, err)
	}
	return out
}

func TestOwnDecks(t *testing.T) {
	s := newService(t)
	if got := s.do("bob", "Deck.List", `{}`); len(got["data"].([]any)) != 0 {
		t.Errorf("decks of a new user: %v", got)
	}
	made := s.do("alice", "Deck.Create", `{"title":"Ünder  the Sea!","data":"<section>a<script>x</script></section>"}`)
	data := made["data"].(map[string]any)
	if data["id"] != int64(1) || data["slug"] != "under-the-sea" || data["slide_count"] != int64(1) || data["data"] != "<section>a</section>" || data["deck_html"] != data["data"] {
		t.Errorf("created: %v", made)
	}
	if made["etag"] != `"0-uh"` {
		t.Errorf("entity tag: %v", made["etag"])
	}
	for _, op := range []string{"Deck.Get", "Deck.Update", "Deck.Trash"} {
		if _, err := s.try("bob", op, `{"id":1}`); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s of somebody else's deck: %v", op, err)
		}
	}
	s.do("alice", "Deck.Update", `{"id":1,"fields":{"visibility":"all","description":"d"},"ifMatch":"\"0-a\""}`)
	if _, err := s.try("alice", "Deck.Update", `{"id":1,"width":5,"ifMatch":"\"0-a\""}`); !fault.Is(err, fault.Conflict) {
		t.Errorf("stale: %v", err)
	}
	s.do("alice", "Deck.Trash", `{"id":1}`)
	s.do("alice", "Deck.Trash", `{"id":1}`)
	if _, err := s.try("alice", "Deck.Get", `{"id":1}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("trashed: %v", err)
	}
}

// TestVisibility checks who may read a deck as a document.
func TestVisibility(t *testing.T) {
	s := newService(t)
	s.do("alice", "Deck.Create", `{"title":"a"}`)
	err := s.Repo().Update(context.Background(), s.System(), func(tx *storage.Tx) error {
		return people.SaveUser(tx, &people.User{Username: "carol"}, "secret")
	})
	if err != nil {
		t.Fatal(err)
	}
	maySee := func(user string) bool {
		_, err := s.try(user, "Deck.View", `{"username":"alice","slug":"a"}`)
		return err == nil
	}
	mayRead := func(user string) bool { // the document, which holds the notes
		as, err := s.PrincipalOf(context.Background(), user)
		if err != nil {
			t.Fatal(err)
		}
		return s.Repo().View(context.Background(), as, func(tx *storage.Tx) error {
			_, err := tx.Doc("/decks/alice/a")
			return err
		}) == nil
	}
	for _, test := range []struct {
		visibility        string
		alice, bob, carol bool // bob is in alice's team
	}{
		{"self", true, false, false},
		{"team", true, true, false},
		{"all", true, true, true},
		{"self", true, false, false},
	} {
		s.do("alice", "Deck.Update", `{"id":1,"visibility":"`+test.visibility+`"}`)
		if a, b, c := maySee("alice"), maySee("bob"), maySee("carol"); a != test.alice || b != test.bob || c != test.carol {
			t.Errorf("%s: alice %t, bob %t, carol %t", test.visibility, a, b, c)
		}
		if !mayRead("alice") || mayRead("bob") || mayRead("carol") {
			t.Errorf("%s: not only its owner reads the document", test.visibility)
		}
	}
	if _, err := s.try("bob", "Deck.Update", `{"id":1,"visibility":"team"}`); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else's deck: %v", err)
	}
	if _, err := s.try("bob", "Deck.Create", `{"visibility":"team"}`); !fault.Is(err, fault.Denied) {
		t.Errorf("a team deck without a team account: %v", err)
	}
}

// TestEarlierRules shows a deck that was made harmless by rules of an earlier version.
func TestEarlierRules(t *testing.T) {
	s := newService(t)
	s.do("alice", "Deck.Create", `{"title":"a","data":"<section>x</section>"}`)
	const kept = "<section data-markdown><script type=\"text/template\">`<!--`<img src=x onerror=x>--></script></section>"
	err := s.Repo().Update(context.Background(), s.Repo().System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/decks/alice/a")
		if err != nil {
			return err
		}
		b, err := tx.NewBlob("deck.html", "text/html", strings.NewReader(kept))
		if err != nil {
			return err
		}
		if err := d.Set("deck:html", b); err != nil {
			return err
		}
		source, err := deck.Source(tx, d)
		if err != nil || strings.Contains(source, "<img") {
			t.Errorf("shown as %s, %v", source, err)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
