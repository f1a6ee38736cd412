package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
	s := resttest.Start(t, resttest.Config{Ops: slices.Concat(stuckOps, decks.Ops()), Deployed: deployed, Repo: decks.Listen})
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

// TestTracesElsewhere has calls traced on servers that answer in turn, and their traces listed and read on each of them, by those who
// may; and recording and the display of traces turned on everywhere.
func TestTracesElsewhere(t *testing.T) {
	if storagetest.Nodes() == 1 {
		t.Skip("TEST_STORE is not nodes")
	}
	s := resttest.Start(t, resttest.Config{Ops: testOps})
	s.User("alice")
	s.User("bob")
	const at = "/api/v1/automation"
	list := func(as, query string) (ids []string) {
		t.Helper()
		var got struct {
			Entries []struct {
				ID, Op string
				Start  time.Time
			}
		}
		a := s.Do("GET", at+"/traces"+query, "", "as", as)
		if err := json.Unmarshal([]byte(a.Text), &got); err != nil || a.StatusCode != http.StatusOK {
			t.Fatalf("%s %s %v", a.Status, a.Text, err)
		}
		for i, e := range got.Entries {
			if i > 0 && e.Start.After(got.Entries[i-1].Start) {
				t.Errorf("%s is newer than the one before it", e.ID)
			}
			ids = append(ids, e.ID)
		}
		return ids
	}
	var made []string
	for range 2 * storagetest.Nodes() {
		made = append(made, s.Do("POST", at+"/Test.Nothing?trace=true", "{}", "as", "alice").Header.Get("Catena-Trace"))
	}
	slices.Reverse(made)
	for range 2 * storagetest.Nodes() {
		for _, as := range []string{"alice", "Administrator"} {
			if got := list(as, "?operation=Test.Nothing"); !slices.Equal(got, made) {
				t.Errorf("%s sees %q, want %q", as, got, made)
			}
		}
		if got := list("alice", "?operation=Test.Nothing&limit=3"); !slices.Equal(got, made[:3]) {
			t.Errorf("three: %q, want %q", got, made[:3])
		}
		if got := list("bob", ""); len(got) != 0 {
			t.Errorf("bob sees %q", got)
		}
	}
	for _, id := range made {
		for range storagetest.Nodes() {
			answers(t, s.Do("GET", at+"/traces/"+id, "", "as", "alice"), http.StatusOK, `"op":"Test.Nothing"`)
			answers(t, s.Do("GET", at+"/traces/"+id, "", "as", "bob"), http.StatusNotFound, "trace "+id)
		}
	}
	// turned has an operation turn something on or off, and looks at each server.
	turned := func(op, params, want string, ask func() string) {
		t.Helper()
		answers(t, s.Do("POST", at+"/"+op, params), http.StatusOK, "true")
		for range storagetest.Nodes() {
			if got := ask(); !strings.Contains(got, want) {
				t.Errorf("%s: %s, want %s", op, got, want)
			}
		}
	}
	turned("Traces.ToggleRecording", `{"params":{"enableTrace":"true"}}`, "true", func() string {
		return s.Do("POST", at+"/Traces.ToggleRecording", `{"params":{"readOnly":true}}`).Text
	})
	s.Do("POST", at+"/Test.Nothing", "{}", "as", "bob")
	for range storagetest.Nodes() {
		if got := list("bob", "?operation=Test.Nothing"); len(got) != 1 {
			t.Errorf("bob's calls that were recorded: %q", got)
		}
		answers(t, s.Do("POST", at+"/Traces.Get", `{"params":{"traceKey":"Test.Nothing"}}`), http.StatusOK, "Name: Test.Nothing")
	}
	turned("JsonStack.ToggleDisplay", `{"params":{"enableTrace":"true"}}`, "stacktrace", func() string {
		return s.Do("POST", at+"/Document.Create", `{"params":{"type":"Nope"},"input":"/"}`, "as", "alice").Text
	})
	// A dry run turns nothing off.
	s.Do("POST", at+"/Traces.ToggleRecording?dryRun=true", `{"params":{"enableTrace":"false"}}`)
	for range storagetest.Nodes() {
		answers(t, s.Do("POST", at+"/Traces.ToggleRecording", `{"params":{"readOnly":true}}`), http.StatusOK, "true")
	}
}
