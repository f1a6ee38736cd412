package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"catena/decks/export"
	"catena/rest/resttest"
	"catena/storage"
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
		if _, err := tx.SetACL(d, "local", []storage.ACE{{User: "bob", Permission: "Everything", Granted: true}, {User: "Everyone", Permission: "Everything"}}); err != nil {
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
			if a := s.Do("DELETE", "/api/v1/user/bob", ""); a.StatusCode != http.StatusNoContent {
				t.Fatalf("%s %s", a.Status, a.Text)
			}
			s.User("bob")
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
			case taken && x.left == "" && (a.StatusCode != http.StatusForbidden || strings.Contains(a.Text, "text of")):
				t.Errorf("%s %s: without the right: %s %s", x.op, x.body, a.Status, a.Text)
			case taken && x.left != "" && (a.StatusCode != http.StatusOK || strings.Contains(a.Text, "canary") || !strings.Contains(a.Text, x.left)):
				t.Errorf("%s %s: without the right: %s %s", x.op, x.body, a.Status, a.Text)
			}
		}
	}
}

// TestExportsMadeAnew does the same to somebody who has exports and a share link: the deck is a document, which access
// lists open by name; what was handed out for it is not the second one's, opens nothing, and is not made any more.
func TestExportsMadeAnew(t *testing.T) {
	for _, anew := range []bool{false, true} {
		s := describe(t)
		s.data("pro", "POST", "/v1/decks", `{"title":"Talk","data":"<section>x</section>"}`)
		s.data("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
		link := s.data("pro", "POST", "/v1/decks/1/share", `{}`)
		s.workFor("pro", &export.Worker{}, 1, 1)
		data, _ := s.must(s.Do("GET", "/v1/decks/1/exports/1", "", "as", "pro")).JSON(t)["data"].(map[string]any)
		address, _ := data["download_url"].(string) // it ends with no key
		s.data("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`)
		if anew {
			s.must(s.Do("DELETE", "/api/v1/user/pro", ""))
			u := people["pro"]
			u.Username = "pro"
			if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error { return tx.SaveUser(&u, resttest.Password) }); err != nil {
				t.Fatal(err)
			}
			s.keys["pro"] = s.Key("pro", "read_write")
		}
		want := map[bool]string{false: "200", true: "404 notfound"}[anew]
		for _, path := range []string{"/v1/decks/1/exports/1", "/v1/decks/1/exports/2", strings.TrimPrefix(address, s.URL)} {
			if a := s.ask("pro", "GET", path, ""); status(a) != want {
				t.Errorf("made anew %t: %s: %s %s", anew, path, a.Status, a.Text)
			}
		}
		for path, found := range map[string]bool{"/v1/decks/1/exports": !anew, "/v1/decks/1": true} {
			if a := s.must(s.ask("pro", "GET", path, "")); strings.Contains(a.Text, `"id":1`) != found {
				t.Errorf("made anew %t: %s: %s", anew, path, a.Text)
			}
		}
		if a := s.ask("pro", "POST", "/api/v1/automation/Deck.GetExportFile", `{"params":{"deck_id":1,"id":1}}`); (a.StatusCode == http.StatusOK) == anew {
			t.Errorf("made anew %t: its file: %s %s", anew, a.Status, a.Text)
		}
		if a := s.view(link, ""); (a.StatusCode == http.StatusOK) == anew {
			t.Errorf("made anew %t: the share link: %s", anew, a.Status)
		}
		a := s.must(s.ask("pro", "POST", "/v1/decks/1/exports", `{"format":"zip"}`))
		if left := map[bool]string{false: "r=7", true: "r=9"}[anew]; !strings.Contains(strings.Join(a.Header.Values("RateLimit"), ","), left) {
			t.Errorf("made anew %t: %v, want %s", anew, a.Header, left)
		}
		var second, third *export.Export
		s.workUntil(&export.Worker{}, "an export", func() bool {
			if err := s.Repo.View(t.Context(), s.Repo.System(), func(tx *storage.Tx) (err error) {
				if second, err = export.Find(tx, 1, 2); err == nil {
					third, err = export.Find(tx, 1, 3)
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
