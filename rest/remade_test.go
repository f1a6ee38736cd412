package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"catena/decks/export"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/people"
)

// shared makes a folder that bob may read and write, with a document and a note in it.
func shared(t *testing.T, s *resttest.Server) {
	t.Helper()
	s.User("bob")
	if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		root, err := tx.Root()
		if err != nil {
			return err
		}
		d, err := tx.Create(root, "Workspace", "open", nil)
		if err != nil {
			return err
		}
		for _, name := range []string{"plain", "canary"} {
			if _, err := tx.Create(d, "Note", name, storage.Props{"dc:title": name, "note:note": "text of " + name}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	toBob(t, s)
}

// toBob grants bob the shared folder, and nobody else.
func toBob(t *testing.T, s *resttest.Server) {
	t.Helper()
	if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		d, err := tx.Doc("/open")
		if err == nil {
			_, err = tx.SetACL(d, "local", []storage.ACE{{User: "bob", Permission: "Everything", Granted: true}, {User: "Everyone", Permission: "Everything"}})
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// bobAnew removes bob and makes another one, who gets nothing of what the first was granted, until it is granted again.
func bobAnew(t *testing.T, s *resttest.Server) {
	t.Helper()
	if a := s.Do("DELETE", "/api/v1/user/bob", ""); a.StatusCode != http.StatusNoContent {
		t.Fatalf("%s %s", a.Status, a.Text)
	}
	s.User("bob")
	if a := s.Do("GET", "/api/v1/path/open/plain", "", "as", "bob"); a.StatusCode != http.StatusNotFound {
		t.Errorf("granted to the one before: %s %s", a.Status, a.Text)
	}
	toBob(t, s)
}

// begin starts an asynchronous run of bob's, waits for its end and returns where its result is.
func begin(t *testing.T, s *resttest.Server, op, body string, headers ...string) string {
	t.Helper()
	a := s.Do("POST", "/api/v1/automation/"+op+"/@async", body, append([]string{"as", "bob"}, headers...)...)
	if a.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s %s", op, a.Status, a.Text)
	}
	return over(t, s, strings.TrimPrefix(a.Header.Get("Location"), s.URL), "as", "bob")
}

// TestMadeAnew removes a user and makes another one of the same name and password: nothing that was kept
// for the first one is the second one's.
func TestMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		s := resttest.Start(t, resttest.Config{})
		shared(t, s)
		const create = `{"input":"/open","params":{"type":"File","name":"made"}}`
		post := func() *resttest.Answer {
			return s.Do("POST", "/api/v1/automation/Document.Create", create, "as", "bob", "Idempotency-Key", "k")
		}
		first := post()
		batch, _ := s.Do("POST", "/api/v1/upload", "", "as", "bob").JSON(t)["batchId"].(string)
		if a := s.Do("POST", "/api/v1/upload/"+batch+"/0", "text", "as", "bob"); a.StatusCode != http.StatusCreated {
			t.Fatalf("%s %s", a.Status, a.Text)
		}
		run := begin(t, s, "Repository.GetDocument", `{"params":{"value":"/open/plain"}}`)
		a := s.Do("POST", "/api/v1/path/open/plain/@convert?type=text/html&async=true", "", "as", "bob")
		conversion, _ := a.JSON(t)["conversionId"].(string)
		if first.StatusCode != http.StatusOK || batch == "" || conversion == "" {
			t.Fatalf("%s %s, %s %s", first.Status, first.Text, a.Status, a.Text)
		}
		a = s.Do("POST", "/api/v1/automation/Bulk.RunAction", `{"params":{"action":"trash","query":"SELECT * FROM File"}}`, "as", "bob")
		command, _ := a.JSON(t)["commandId"].(string)
		a = s.Do("POST", "/api/v1/webhook", `{"url":"https://example.org/bob","events":["*"]}`, "as", "bob")
		hook, _ := a.JSON(t)["id"].(string)
		if command == "" || hook == "" {
			t.Fatalf("%s %s", a.Status, a.Text)
		}

		if anew {
			bobAnew(t, s)
		}
		want := map[bool]int{false: http.StatusOK, true: http.StatusNotFound}[anew]
		for _, path := range []string{
			"/api/v1/upload/" + batch, "/api/v1/upload/" + batch + "/0", run, "/api/v1/conversions/" + conversion + "/poll", "/api/v1/bulk/" + command,
			"/api/v1/webhook/" + hook, "/api/v1/webhook/" + hook + "/deliveries",
		} {
			if a := s.Do("GET", path, "", "as", "bob"); a.StatusCode != want {
				t.Errorf("made anew %t: %s: %s %s", anew, path, a.Status, a.Text)
			}
		}
		for _, path := range []string{"/api/v1/webhook", "/api/v1/webhook?owner=bob"} {
			if a := s.Do("GET", path, "", "as", "bob"); a.StatusCode != http.StatusOK || strings.Contains(a.Text, hook) == anew {
				t.Errorf("made anew %t: %s: %s %s", anew, path, a.Status, a.Text)
			}
		}
		if a := s.Do("GET", "/api/v1/webhook", ""); strings.Contains(a.Text, hook) == anew {
			t.Errorf("made anew %t: administrator: %s %s", anew, a.Status, a.Text)
		}
		if again := post(); again.StatusCode != http.StatusOK || (again.Text == first.Text) == anew || (again.Header.Get("Idempotency-Replayed") == "") != anew {
			t.Errorf("made anew %t: with the key: %s %s", anew, again.Status, again.Text)
		}
	}
}

// TestWorkspaceMadeAnew does the same to somebody who has a personal workspace with favorites, a folder that only its owner
// and ann may see, subscriptions and traces: the second one begins with none of it, and ann keeps what she was given.
func TestWorkspaceMadeAnew(t *testing.T) {
	const home = "/default-domain/UserWorkspaces/bob"
	for _, anew := range []bool{false, true} {
		s := resttest.Start(t, resttest.Config{})
		shared(t, s)
		s.User("ann")
		run := func(user, op, body string) *resttest.Answer {
			return s.Do("POST", "/api/v1/automation/"+op, body, "as", user)
		}
		ok := func(a *resttest.Answer) map[string]any {
			t.Helper()
			if a.StatusCode != http.StatusOK {
				t.Fatalf("%s %s", a.Status, a.Text)
			}
			return a.JSON(t)
		}
		own := ok(run("bob", "User.GetUserWorkspace", `{}`))
		ok(run("bob", "Document.Create", `{"input":"`+home+`","params":{"type":"Folder","name":"own"}}`))
		if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
			d, err := tx.Doc(home + "/own")
			if err == nil {
				_, err = tx.SetACL(d, "local", []storage.ACE{
					{User: "bob", Permission: "Everything", Granted: true}, {User: "ann", Permission: "Read", Granted: true}, {User: "Everyone", Permission: "Everything"},
				})
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		ok(run("bob", "Document.AddToFavorites", `{"input":"/open/plain"}`))
		ok(run("bob", "Document.Subscribe", `{"input":"/open/plain","params":{"notifications":["Creation"]}}`))
		failed := run("bob", "Repository.GetDocument", `{"params":{"value":"/nowhere"}}`)
		folder, _ := ok(s.Do("GET", "/api/v1/path"+home+"/own", "", "as", "bob"))["uid"].(string)
		traces := func() string { return s.Do("GET", "/api/v1/automation/traces", "", "as", "bob").Text }
		if failed.StatusCode != http.StatusNotFound || !strings.Contains(traces(), "/nowhere") {
			t.Fatalf("%s %s: %s", failed.Status, failed.Text, traces())
		}

		if anew {
			bobAnew(t, s)
			if a := s.Do("GET", "/api/v1/path"+home, ""); a.StatusCode != http.StatusNotFound {
				t.Errorf("the workspace of one who is gone: %s", a.Status)
			}
		}
		want := map[bool]int{false: http.StatusOK, true: http.StatusNotFound}[anew]
		for _, id := range []string{own["uid"].(string), folder} {
			if a := s.Do("GET", "/api/v1/id/"+id, "", "as", "bob"); a.StatusCode != want {
				t.Errorf("made anew %t: %s: %s %s", anew, id, a.Status, a.Text)
			}
			if a := s.Do("GET", "/api/v1/id/"+id, ""); a.StatusCode != http.StatusOK {
				t.Errorf("made anew %t: administrator: %s: %s %s", anew, id, a.Status, a.Text)
			}
		}
		if a := s.Do("GET", "/api/v1/id/"+folder, "", "as", "ann"); a.StatusCode != http.StatusOK {
			t.Errorf("made anew %t: ann: %s %s", anew, a.Status, a.Text)
		}
		if a := s.Do("GET", "/api/v1/search/lang/NXQL/execute?query=SELECT+*+FROM+Folder", "", "as", "bob"); strings.Contains(a.Text, folder) == anew {
			t.Errorf("made anew %t: found: %s %s", anew, a.Status, a.Text)
		}
		if now := ok(run("bob", "User.GetUserWorkspace", `{}`)); now["path"] != home || (now["uid"] == own["uid"]) == anew {
			t.Errorf("made anew %t: workspace %v %v", anew, now["path"], now["uid"])
		}
		list := ok(run("bob", "Favorite.GetDocuments", `{"input":"/open"}`))["entries"].([]any)
		if (len(list) == 0) != anew {
			t.Errorf("made anew %t: favorites: %v", anew, list)
		}
		a := s.Do("GET", "/api/v1/path/open/plain", "", "as", "bob", "enrichers.document", "favorites,subscribedNotifications")
		if strings.Contains(a.Text, `"isFavorite":true`) == anew || strings.Contains(a.Text, "Creation") == anew {
			t.Errorf("made anew %t: %s %s", anew, a.Status, a.Text)
		}
		if strings.Contains(traces(), "/nowhere") == anew {
			t.Errorf("made anew %t: %s", anew, traces())
		}
		if anew { // and again, beside what the first one left
			if a := s.Do("DELETE", "/api/v1/user/bob", ""); a.StatusCode != http.StatusNoContent {
				t.Fatalf("%s %s", a.Status, a.Text)
			}
			s.User("bob")
			if third := ok(run("bob", "User.GetUserWorkspace", `{}`)); third["path"] != home {
				t.Errorf("the third workspace: %v", third["path"])
			}
			if n := len(ok(s.Do("GET", "/api/v1/path/default-domain/UserWorkspaces/@children", ""))["entries"].([]any)); n < 3 {
				t.Errorf("%d workspaces, of three bobs", n)
			}
		}
	}
}

// TestResultLater takes a right away between the end of an asynchronous run and the reading of its result:
// nothing of the document is in the answer.
func TestResultLater(t *testing.T) {
	const all = `{"params":{"query":"SELECT * FROM Note ORDER BY dc:title"}}`
	for _, x := range []struct {
		op, body string
		headers  []string
		left     string // what the answer has once the right is gone; "": it is refused
	}{
		{op: "Repository.GetDocument", body: `{"params":{"value":"/open/canary"}}`},
		{op: "Repository.GetDocument", body: `{"params":{"value":"/open/canary"}}`, headers: []string{"Idempotency-Key", "k"}},
		{op: "Document.SetProperty", body: `{"input":"/open/canary","params":{"xpath":"dc:description","value":"canary"}}`},
		{op: "Document.GetBlob", body: `{"input":"/open/canary"}`},
		{op: "Document.GetBlob", body: `{"input":"docs:/open/plain,/open/canary"}`},
		{op: "Document.GetChildren", body: `{"input":"/open"}`, left: `"path":"/open/plain"`},
		{op: "Repository.Query", body: all, left: `"path":"/open/plain"`},
		{op: "Repository.PageProvider", body: `{"params":{"providerName":"CURRENT_DOC_CHILDREN","queryParams":"/open"}}`, left: `"path":"/open/plain"`},
	} {
		for _, taken := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s taken=%t", x.op, taken), func(t *testing.T) { // whose store is given back before the next one is opened
				s := resttest.Start(t, resttest.Config{})
				shared(t, s)
				result := begin(t, s, x.op, x.body, x.headers...)
				if taken {
					if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
						d, err := tx.Doc("/open/canary")
						if err == nil {
							_, err = tx.SetACL(d, "local", []storage.ACE{{User: "Everyone", Permission: "Everything"}})
						}
						return err
					}); err != nil {
						t.Fatal(err)
					}
				}
				a := s.Do("GET", result, "", "as", "bob")
				switch {
				case !taken && (a.StatusCode != http.StatusOK || !strings.Contains(a.Text, "canary")):
					t.Errorf("%s %s: %s %s", x.op, x.body, a.Status, a.Text)
				case taken && x.left == "" && (a.StatusCode != http.StatusNotFound || strings.Contains(a.Text, "text of")):
					t.Errorf("%s %s: without the right: %s %s", x.op, x.body, a.Status, a.Text)
				case taken && x.left != "" && (a.StatusCode != http.StatusOK || strings.Contains(a.Text, "canary") || !strings.Contains(a.Text, x.left)):
					t.Errorf("%s %s: without the right: %s %s", x.op, x.body, a.Status, a.Text)
				}
			})
		}
	}
}

// TestDecksMadeAnew does the same to somebody who has a deck with exports, a share link and a notice: none of it is the second
// one's, what was handed out opens nothing, and exports are not made any longer.
func TestDecksMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		s := describe(t)
		s.data("pro", "POST", "/v1/decks", `{"title":"Talk","data":"<section>x</section>"}`)
		s.data("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
		link := s.data("pro", "POST", "/v1/decks/1/share", `{"notify_on_view":true}`)
		if a := s.view(link, ""); a.StatusCode != http.StatusOK {
			t.Fatalf("the share link: %s", a.Status)
		}
		notices := func() string { return s.must(s.ask("pro", "POST", "/api/v1/automation/Deck.ListNotices", `{}`)).Text }
		if !strings.Contains(notices(), "first_viewed") {
			t.Fatal(notices())
		}
		s.workFor("pro", &export.Worker{}, 1, 1)
		data, _ := s.must(s.Do("GET", "/v1/decks/1/exports/1", "", "as", "pro")).JSON(t)["data"].(map[string]any)
		address, _ := data["download_url"].(string) // it ends with no key
		s.data("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
		if anew {
			s.must(s.Do("DELETE", "/api/v1/user/pro", ""))
			u := users["pro"]
			u.Username = "pro"
			if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error { return people.SaveUser(tx, &u, resttest.Password) }); err != nil {
				t.Fatal(err)
			}
			s.keys["pro"] = s.Key("pro", "read_write")
		}
		want := map[bool]string{false: "200", true: "404 notfound"}[anew]
		for _, path := range []string{"/v1/decks/1", "/v1/decks/1/exports", "/v1/decks/1/exports/1", "/v1/decks/1/exports/2", strings.TrimPrefix(address, s.URL)} {
			if a := s.ask("pro", "GET", path, ""); status(a) != want {
				t.Errorf("made anew %t: %s: %s %s", anew, path, a.Status, a.Text)
			}
		}
		if a := s.must(s.ask("pro", "GET", "/v1/decks", "")); strings.Contains(a.Text, `"id":1`) == anew {
			t.Errorf("made anew %t: %s", anew, a.Text)
		}
		if strings.Contains(notices(), "first_viewed") == anew {
			t.Errorf("made anew %t: %s", anew, notices())
		}
		if a := s.ask("pro", "POST", "/api/v1/automation/Deck.GetExportFile", `{"params":{"deck_id":1,"id":1}}`); (a.StatusCode == http.StatusOK) == anew {
			t.Errorf("made anew %t: its file: %s %s", anew, a.Status, a.Text)
		}
		if a := s.view(link, ""); (a.StatusCode == http.StatusOK) == anew {
			t.Errorf("made anew %t: the share link: %s", anew, a.Status)
		}
		deck := int64(1)
		if anew {
			number, _ := s.data("pro", "POST", "/v1/decks", `{"title":"Talk","data":"<section>y</section>"}`)["id"].(float64)
			deck = int64(number)
			if a := s.Do("GET", "/decks/pro/talk", "", "as", "pro"); a.StatusCode != http.StatusOK || !strings.Contains(a.Text, `data-id="2"`) {
				t.Errorf("the second one's deck: %s %s", a.Status, a.Text)
			}
		}
		a := s.must(s.ask("pro", "POST", fmt.Sprintf("/v1/decks/%d/exports", deck), `{"format":"zip"}`))
		if left := map[bool]string{false: "r=7", true: "r=9"}[anew]; !strings.Contains(strings.Join(a.Header.Values("RateLimit"), ","), left) {
			t.Errorf("made anew %t: %v, want %s", anew, a.Header, left)
		}
		var second, third *export.Export
		s.workUntil(&export.Worker{}, "an export", func() bool {
			if err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) (err error) {
				if second, err = export.Find(tx, 1, 2); err == nil {
					third, err = export.Find(tx, deck, 3)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return third.Status != export.Pending && (anew || second.Status != export.Pending)
		})
		if third.Status != export.Completed || (second.Status == export.Completed) == anew {
			t.Errorf("made anew %t: the second one is %s, the third %s: %v", anew, second.Status, third.Status, second.Failure)
		}
	}
}
