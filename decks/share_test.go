package decks

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/people"
)

// shared is a service with a deck of alice's and a link to it.
func shared(t *testing.T, fields string) (s *service, token string) {
	t.Helper()
	s = newService(t)
	s.do("alice", "Deck.Create", `{"title":"a","data":"<section>x<aside class=notes>secret</aside></section>"}`)
	made := s.do("alice", "Deck.CreateShareLink", `{"deck_id":1,"fields":`+fields+`}`)
	return s, strings.TrimPrefix(made["data"].(map[string]any)["url"].(string), "/share/")
}

func TestShareTries(t *testing.T) {
	s, token := shared(t, `{"password":"right"}`)
	open := func(password string) any {
		return s.do("bob", "Deck.OpenShare", fmt.Sprintf(`{"token":%q,"password":%q}`, token, password))["locked"]
	}
	s.stop() // stores look at it more or less often
	for range 5 {
		if got := open("wrong"); got != "wrong_password" {
			t.Fatalf("wrong password: %v", got)
		}
	}
	if got := open("right"); got != "too_many_tries" {
		t.Errorf("after %d wrong ones: %v", 5, got)
	}
	for range 12 {
		s.shift(time.Second)
		if got := open("right"); got == nil {
			return
		}
	}
	t.Error("a right password is never taken again")
}

func TestShareEnds(t *testing.T) {
	ends := map[string]func(s *service){
		"trashed": func(s *service) { s.do("alice", "Deck.Trash", `{"id":1}`) },
		"revoked": func(s *service) { s.do("alice", "Deck.RevokeShareLink", `{"deck_id":1,"id":1}`) },
		"plan": func(s *service) {
			if err := s.Repo().Update(context.Background(), s.System(), func(tx *storage.Tx) error {
				u, err := people.Lookup(tx, "alice")
				if err == nil {
					u.AccountType = "free"
					err = people.SaveUser(tx, u, "")
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		},
		"deleted": func(s *service) {
			if err := s.Repo().Update(context.Background(), s.System(), func(tx *storage.Tx) error {
				d, err := tx.Doc("/decks/alice/a")
				if err == nil {
					err = tx.Delete(d)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s, token := shared(t, `{}`)
			if got := s.do("bob", "Deck.OpenShare", `{"token":"`+token+`"}`); got["data"] == nil || strings.Contains(fmt.Sprint(got), "secret") {
				t.Fatalf("before: %v", got)
			}
			end(s)
			if got, err := s.try("bob", "Deck.OpenShare", `{"token":"`+token+`"}`); !fault.Is(err, fault.NotFound) {
				t.Errorf("after: %v %v", got, err)
			}
		})
	}
	s, token := shared(t, `{"expires_at":"2026-01-02T03:05:30Z"}`)
	for range 200 {
		if _, err := s.try("bob", "Deck.OpenShare", `{"token":"`+token+`"}`); err != nil {
			if !strings.Contains(err.Error(), "has expired") {
				t.Errorf("expired: %v", err)
			}
			return
		}
	}
	t.Error("the link does not expire")
}

// TestShareClock shifts the clock by hours: a link ends when the clock says so, also if that was wrong for a while, and
// wrong passwords do not keep it closed for longer than they would have.
func TestShareClock(t *testing.T) {
	s, token := shared(t, `{"password":"right","expires_at":"2026-01-02T09:00:00Z"}`)
	open := func(password string) string {
		got, err := s.try("bob", "Deck.OpenShare", fmt.Sprintf(`{"token":%q,"password":%q}`, token, password))
		if err != nil {
			return err.Error()
		}
		if locked, ok := got["locked"].(string); ok {
			return locked
		}
		return "open"
	}
	after := func(shift time.Duration, password, want string) {
		t.Helper()
		s.shift(shift)
		if got := open(password); !strings.Contains(got, want) {
			t.Errorf("shifted by %s, password %s: %s, want %s", shift, password, got, want)
		}
	}
	after(0, "right", "open")
	after(7*time.Hour, "right", "has expired")
	after(-12*time.Hour, "right", "open")
	for n := 0; open(fmt.Sprint("wrong ", n)) != "too_many_tries"; n++ {
		if n == 20 {
			t.Fatal("wrong passwords are not limited")
		}
	}
	after(-5*time.Hour, "another", "too_many_tries")
	after(time.Minute, "right", "open")
	after(16*time.Hour, "right", "has expired")
}

// TestFirstView opens a link many times at once: the owner hears of it once.
func TestFirstView(t *testing.T) {
	s, token := shared(t, `{"notify_on_view":true}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.try("bob", "Deck.OpenShare", `{"token":"`+token+`","count":true}`); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list := s.do("alice", "Deck.ListShareLinks", `{"deck_id":1}`)["data"].([]any)[0].(map[string]any)
	if list["view_count"] != int64(8) {
		t.Errorf("views: %v", list["view_count"])
	}
	if notices := s.do("alice", "Deck.ListNotices", `{}`)["data"].([]any); len(notices) != 1 {
		t.Errorf("notices: %v", notices)
	}
}

// TestShareAdministrator shares a deck of the administrator of a fresh installation, whose account has no plan.
func TestShareAdministrator(t *testing.T) {
	s := newService(t)
	admin := storage.AdministratorName
	s.do(admin, "Deck.Create", `{"title":"a","data":"<section>x</section>"}`)
	made := s.do(admin, "Deck.CreateShareLink", `{"deck_id":1}`)["data"].(map[string]any)
	token := strings.TrimPrefix(made["url"].(string), "/share/")
	if got := s.do("bob", "Deck.OpenShare", `{"token":"`+token+`"}`); got["data"] == nil {
		t.Errorf("opened: %v", got)
	}
	if _, err := s.try("bob", "Deck.ListShareLinks", `{"deck_id":1}`); !fault.Is(err, fault.Denied) {
		t.Errorf("a user without a plan: %v", err)
	}
}
