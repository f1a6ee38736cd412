package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"catena/decks"
	"catena/rest/resttest"
	"catena/storage/storagetest"
)

// TestCallElsewhere has a call run on one server, and seen and ended by addresses and operations of both, which answer in turn.
func TestCallElsewhere(t *testing.T) {
	if storagetest.Nodes() == 1 {
		t.Skip("TEST_STORE is not nodes")
	}
	s := resttest.Start(t, resttest.Config{Ops: slices.Concat(stuckOps, decks.Ops), Deployed: deployed, Repo: decks.Listen})
	s.User("alice")
	s.User("bob")
	// everywhere waits until both servers, one after the other, give an answer.
	everywhere := func(what string, ask func() bool) {
		t.Helper()
		for end, both := time.Now().Add(time.Minute), 0; both < 2*storagetest.Nodes(); {
			if both++; !ask() {
				both = 0
				time.Sleep(20 * time.Millisecond)
			}
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	list := func(as string) []map[string]any { return runsOf(t, s, "?operation=Test.Wait", "as", as) }
	reader := bearer(s.Key("alice", "read_only"))
	for _, by := range []string{"alice", "Administrator"} {
		for _, stop := range []func(id string) *resttest.Answer{
			func(id string) *resttest.Answer { return s.Do("DELETE", runsAt+"/"+id, "", "as", by) },
			func(id string) *resttest.Answer {
				return s.Do("POST", "/api/v1/automation/Run.Stop", fmt.Sprintf(`{"params":{"id":%q}}`, id), "as", by)
			},
		} {
			answer := make(chan *resttest.Answer)
			go func() {
				answer <- s.Do("POST", "/api/v1/automation/Test.Wait", `{"params":{"millis":600000}}`, "as", "alice")
			}()
			everywhere("the call is not seen on both", func() bool { return len(list("alice")) == 1 && len(list("Administrator")) == 1 })
			id := list("alice")[0]["id"].(string)
			for range storagetest.Nodes() {
				if got := list("bob"); len(got) != 0 {
					t.Errorf("bob sees %v", got)
				}
				answers(t, s.Do("GET", runsAt+"/"+id, "", "as", "alice"), http.StatusOK, `"state":"running"`)
				answers(t, s.Do("GET", runsAt+"/"+id, "", "as", "bob"), http.StatusNotFound, "run "+id)
				answers(t, s.Do("DELETE", runsAt+"/"+id, "", "as", "bob"), http.StatusNotFound, "run "+id)
				answers(t, s.Do("DELETE", runsAt+"/"+id, "", reader...), http.StatusForbidden, "read-only")
			}
			if got := stop(id); got.StatusCode != http.StatusNoContent && got.StatusCode != http.StatusOK {
				t.Errorf("%s: %s", got.Status, got.Text)
			}
			if got := <-answer; got.StatusCode < 400 {
				t.Errorf("the call that was ended: %s %s", got.Status, got.Text)
			}
			everywhere("the call is still seen", func() bool { return len(list("Administrator")) == 0 })
		}
	}
}
