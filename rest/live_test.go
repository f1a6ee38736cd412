package rest_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"catena/rest/resttest"
)

// follower reads what those hear who follow a deck's presenter.
type follower struct {
	lines chan string // closed at the end of the stream
}

func followed(t *testing.T, s *resttest.Server, path string, headers ...string) *follower {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, resp.Status)
	}
	f := &follower{make(chan string, 100)}
	go func() {
		defer close(f.lines)
		for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				f.lines <- text
			}
		}
	}()
	return f
}

// next is what is heard next; ok is false at the end.
func (f *follower) next(t *testing.T) (text string, ok bool) {
	t.Helper()
	select {
	case text, ok = <-f.lines:
		return text, ok
	case <-time.After(time.Minute):
		t.Fatal("nothing is heard")
		return "", false
	}
}

// TestFollowersCutOff takes the right to see a deck from people who follow its presenter:
// nothing more reaches them.
func TestFollowersCutOff(t *testing.T) {
	s := startDecks(t, -1)
	account(t, s, "alice", "pro", "", 0)
	s.User("bob")
	alice, bob := s.Key("alice", "read_write"), s.Key("bob", "read_only")
	s.Do("POST", "/v1/decks", `{"title":"Talk","data":"<section>a</section>"}`, bearer(alice)...)
	made := s.Do("POST", "/v1/decks/1/share", `{"name":"L"}`, bearer(alice)...).JSON(t)
	share := strings.TrimPrefix(made["data"].(map[string]any)["url"].(string), s.URL)
	s.Do("PATCH", "/v1/decks/1", `{"visibility":"all"}`, bearer(alice)...)
	guest, user := followed(t, s, "/decks/alice/talk/live"), followed(t, s, "/decks/alice/talk/live", bearer(bob)...)
	linked := followed(t, s, share+"/live")
	move := func(at string) {
		t.Helper()
		if got := s.Do("POST", "/decks/alice/talk/live", at, bearer(alice)...); got.StatusCode != http.StatusNoContent {
			t.Fatalf("moved: %s %s", got.Status, got.Text)
		}
	}
	move(`{"h":1,"v":0,"f":-1}`)
	for name, f := range map[string]*follower{"guest": guest, "user": user, "link": linked} {
		if text, ok := f.next(t); !ok || !strings.Contains(text, `"h":1`) {
			t.Errorf("%s hears %q", name, text)
		}
	}
	time.Sleep(300 * time.Millisecond) // what was checked a moment ago is not checked again
	id := strings.Split(bob, "_")[1]
	if got := s.Do("POST", "/api/v1/automation/Key.Revoke", `{"params":{"id":`+id+`}}`, "as", "Administrator"); got.StatusCode >= 300 {
		t.Fatalf("revoked: %s %s", got.Status, got.Text)
	}
	move(`{"h":2,"v":0,"f":-1}`)
	if text, ok := user.next(t); ok {
		t.Errorf("with a revoked key: heard %q", text)
	}
	if text, ok := guest.next(t); !ok || !strings.Contains(text, `"h":2`) {
		t.Errorf("guest hears %q", text)
	}
	if text, ok := linked.next(t); !ok || !strings.Contains(text, `"h":2`) {
		t.Errorf("link hears %q", text)
	}
	time.Sleep(300 * time.Millisecond)
	s.Do("PATCH", "/v1/decks/1", `{"visibility":"self"}`, bearer(alice)...)
	s.Do("DELETE", "/v1/decks/1/share/1", "", bearer(alice)...)
	move(`{"h":3,"v":0,"f":-1}`)
	for name, f := range map[string]*follower{"guest": guest, "link": linked} {
		if text, ok := f.next(t); ok {
			t.Errorf("%s: heard %q", name, text)
		}
	}
}
