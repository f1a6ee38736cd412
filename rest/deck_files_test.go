package rest_test

import (
	"net/http"
	"testing"

	"catena/decks"
	"catena/rest/resttest"
)

// TestDeckFiles keeps pictures with a deck at the service's own addresses.
func TestDeckFiles(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen})
	s.User("alice")
	s.User("bob")
	makeDeck(t, s, map[string]any{"title": "Talk", "data": `<section><img src="files/1/dot.svg"></section>`})
	const svg = `<svg xmlns="http://www.w3.org/2000/svg"/>`
	const parts = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"two.svg\"\r\nContent-Type: image/svg+xml\r\n\r\n<svg id='2'/>\r\n--b--\r\n"
	picture, form := []string{"as", "alice", "Content-Type", "image/svg+xml"}, []string{"as", "alice", "Content-Type", "multipart/form-data; boundary=b"}
	for _, c := range []struct {
		method, at, body string
		header           []string
		status           int
		want             string // code of a problem, or the body
	}{
		{"POST", "/v1/decks/1/files?name=dot", svg, picture, 201, ""},
		{"POST", "/v1/decks/1/files", parts, form, 201, ""},
		{"POST", "/v1/decks/1/files", "--b--\r\n", form, 422, "no_picture"},
		{"POST", "/v1/decks/1/files", "plain", picture, 422, "no_picture"},
		{"POST", "/v1/decks/1/files", "{}", []string{"as", "alice"}, 415, "unsupported_media_type"},
		{"POST", "/v1/decks/1/files", svg, []string{"as", "bob", "Content-Type", "image/svg+xml"}, 404, ""},
		{"POST", "/v1/decks/1/files", svg, append([]string{"as", "", "Content-Type", "image/svg+xml"}, bearer(s.Key("alice", "read_only"))...), 403, "insufficient_scope"},
		{"GET", "/v1/decks/1/files/1", "", []string{"as", "alice"}, 200, svg},
		{"GET", "/v1/decks/1/files/9", "", []string{"as", "alice"}, 404, ""},
		{"GET", "/v1/decks/1/files/1", "", []string{"as", "bob"}, 404, ""},
		{"GET", "/v1/decks/1/files/x", "", []string{"as", "alice"}, 404, ""},
		{"DELETE", "/v1/decks/1/files/1", "", []string{"as", "alice"}, 409, "file_in_use"},
		{"DELETE", "/v1/decks/1/files/1", "", []string{"as", "bob"}, 404, ""},
		{"DELETE", "/v1/decks/1/files/2", "", []string{"as", "alice"}, 204, ""},
		{"DELETE", "/v1/decks/1/files/1?force=true", "", []string{"as", "alice"}, 204, ""},
		{"GET", "/v1/decks/1/files/1", "", []string{"as", "alice"}, 404, ""},
	} {
		a := s.Do(c.method, c.at, c.body, c.header...)
		if a.StatusCode != c.status {
			t.Errorf("%s %s as %v: %s %s, want %d", c.method, c.at, c.header, a.Status, a.Text, c.status)
			continue
		}
		switch {
		case c.status >= 400 && c.want != "" && a.JSON(t)["code"] != c.want:
			t.Errorf("%s %s: %s, want code %s", c.method, c.at, a.Text, c.want)
		case c.status == 200 && a.Text != c.want:
			t.Errorf("%s %s: %s", c.method, c.at, a.Text)
		case c.status == 201 && a.Header.Get("Location") == "":
			t.Errorf("%s %s: no Location", c.method, c.at)
		}
	}
	again := []string{"as", "alice", "Content-Type", "image/svg+xml", "Idempotency-Key", "k1"}
	first, second := s.Do("POST", "/v1/decks/1/files?name=a", svg, again...), s.Do("POST", "/v1/decks/1/files?name=a", svg, again...)
	if other := s.Do("POST", "/v1/decks/1/files?name=a", svg+" ", again...); first.Text != second.Text || second.Header.Get("Idempotency-Replayed") != "true" || other.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("again: %s, %s; with another picture: %s", first.Text, second.Text, other.Status)
	}
	list := s.Do("GET", "/v1/decks/1/files", "", "as", "alice").JSON(t)["data"].([]any)
	if len(list) != 1 || list[0].(map[string]any)["address"] != "files/3/a.svg" || first.Header.Get("Location") != s.URL+"/v1/decks/1/files/3" {
		t.Errorf("list: %v, first at %s", list, first.Header.Get("Location"))
	}
}
