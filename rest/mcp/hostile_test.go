package mcp_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/credential"
	"catena/storage/people"
)

// pro makes a user one who may share decks.
func pro(t testing.TB, s *resttest.Server, name string) {
	t.Helper()
	if err := s.Repo.Update(t.Context(), s.Repo.System(), func(tx *storage.Tx) error {
		u, err := people.Lookup(tx, name)
		if err != nil {
			return err
		}
		u.AccountType = "pro"
		return people.SaveUser(tx, u, "")
	}); err != nil {
		t.Fatal(err)
	}
}

// TestHints looks at what every tool says of itself: four hints, and no field for a secret.
func TestHints(t *testing.T) {
	s := start(t, -1)
	secret := regexp.MustCompile(`(?i)passw|secret|token|hash|nonce|api_?key|cookie|session|credential`)
	count := 0
	for _, path := range []string{"/mcp", "/mcp/automation"} {
		list, err := connect(t, s, path, s.Key("alice", "read_write"), "").ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			count++
			a := tool.Annotations
			if a == nil || a.DestructiveHint == nil || a.OpenWorldHint == nil || a.ReadOnlyHint && *a.DestructiveHint || tool.Title == "" || tool.Description == "" {
				t.Errorf("%s: hints %+v", tool.Name, a)
			}
			schema, ok := tool.OutputSchema.(map[string]any)
			if path == "/mcp" && (!ok || schema["properties"] == nil) {
				t.Errorf("%s: no output schema", tool.Name)
			}
			text, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			if found := secret.FindString(strings.ReplaceAll(string(text), "password_protected", "")); found != "" {
				t.Errorf("%s: the output has a field for %q", tool.Name, found)
			}
		}
	}
	if count < 20 {
		t.Errorf("%d tools", count)
	}
}

// TestToolsDeleteNothing calls every tool of the deck service at a deck, in every order of two:
// the deck is there, in the trash or out of it, and comes back as it was. No answer has a secret.
func TestToolsDeleteNothing(t *testing.T) {
	s := start(t, -1)
	pro(t, s, "alice")
	key := s.Key("alice", "read_write")
	c := connect(t, s, "/mcp", key, "")
	use(t, c, "create_deck", `{"title":"kept","data":"<section>kept</section>"}`)
	link, _, failed := use(t, c, "create_share_link", `{"deck_id":1,"password":"open sesame","name":"x"}`)
	if failed {
		t.Fatal(link)
	}
	token := fmt.Sprint(link["url"])[strings.LastIndex(fmt.Sprint(link["url"]), "/")+1:]
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range list.Tools {
		for _, second := range []string{first.Name, "trash_deck", "recover_deck"} {
			for _, name := range []string{first.Name, second} {
				args := map[string]any{}
				for p := range first.InputSchema.(map[string]any)["properties"].(map[string]any) {
					switch p {
					case "id", "deck_id":
						args[p] = 1
					case "number":
						args[p] = 1
					case "force":
						args[p] = true
					case "format":
						args[p] = "zip"
					}
				}
				if name != first.Name {
					args = map[string]any{"id": 1}
				}
				if name == "update_deck" {
					args["title"] = "kept"
				}
				body, err := json.Marshal(args)
				if err != nil {
					t.Fatal(err)
				}
				out, text, _ := use(t, c, name, string(body))
				text += fmt.Sprint(out)
				if strings.Contains(text, "open sesame") || strings.Contains(text, "argon2") || strings.Contains(text, key) || !strings.Contains(name, "share_link") && strings.Contains(text, token) {
					t.Errorf("%s: a secret in %s", name, text)
				}
			}
		}
	}
	use(t, c, "recover_deck", `{"id":1}`)
	if got, text, failed := use(t, c, "get_deck", `{"id":1}`); failed || got["data"] != "<section>kept</section>" || got["title"] != "kept" {
		t.Errorf("the deck: %s", text)
	}
}

// TestLongAnswers has tools read and write decks of up to two million bytes: no answer has more than one.
func TestLongAnswers(t *testing.T) {
	s := start(t, -1)
	auth := []string{"Authorization", "Bearer " + s.Key("alice", "read_write")}
	for _, size := range []int{600 << 10, 1020 << 10, 2 << 20} {
		html := `<section>` + strings.Repeat(`\"`, size/4) + strings.Repeat("x", size/2) + `</section>`
		made := raw(s, "/mcp", fmt.Sprintf(calls, "create_deck", `{"data":"`+html+`"}`), auth...)
		var answer struct {
			Result struct {
				IsError           bool
				StructuredContent struct{ ID int64 }
			}
		}
		if err := json.Unmarshal([]byte(made.Text), &answer); err != nil || answer.Result.IsError || answer.Result.StructuredContent.ID == 0 {
			t.Fatalf("%d bytes: %s %v %.300s", size, made.Status, err, made.Text)
		}
		id := answer.Result.StructuredContent.ID
		for what, got := range map[string]string{
			"create_deck":   made.Text,
			"get_deck":      raw(s, "/mcp", fmt.Sprintf(calls, "get_deck", fmt.Sprintf(`{"id":%d}`, id)), auth...).Text,
			"update_deck":   raw(s, "/mcp", fmt.Sprintf(calls, "update_deck", fmt.Sprintf(`{"id":%d,"title":"y"}`, id)), auth...).Text,
			"run_operation": raw(s, "/mcp/automation", fmt.Sprintf(calls, "run_operation", fmt.Sprintf(`{"operation":"Deck.Get","params":{"id":%d}}`, id)), auth...).Text,
		} {
			if len(got) > 1<<20 || !json.Valid([]byte(got)) {
				t.Errorf("%s of %d: %d bytes: %.200s", what, size, len(got), got)
			}
			if whole := strings.Contains(got, `<section>`); whole != (size < 900<<10) && what != "run_operation" {
				t.Errorf("%s of %d bytes: has the HTML: %t", what, size, whole)
			}
		}
	}
}

// TestForeignTokens tries what this server gave out for something else, and another's session:
// nothing of it signs in, and who has a key of their own acts for themselves.
func TestForeignTokens(t *testing.T) {
	s := start(t, -1)
	s.User("bob")
	pro(t, s, "alice")
	alice, bob := s.Key("alice", "read_write"), s.Key("bob", "read_write")
	auth := []string{"Authorization", "Bearer " + alice}
	s.Do("POST", "/v1/decks", `{"title":"of alice"}`, auth...)
	link := fmt.Sprint(s.Do("POST", "/v1/decks/1/share", `{"password":"x"}`, auth...).JSON(t)["data"].(map[string]any)["url"])
	opened := s.Do("POST", strings.TrimPrefix(link, s.URL), "password=x", "as", "", "Content-Type", "application/x-www-form-urlencoded")
	pass := opened.Cookies()[0].Value
	session, _, err := credential.OpenSession(t.Context(), s.Repo, "alice", resttest.Password)
	if err != nil {
		t.Fatal(err)
	}
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_decks","arguments":{}}}`
	for what, token := range map[string]string{
		"token of a link": link[strings.LastIndex(link, "/")+1:], "pass of a link": pass, "session": session, "password": resttest.Password, "half a key": alice[:len(alice)/2],
		"another's number": strings.Replace(alice, "cat_", "cat_9", 1), "bob's secret": alice[:strings.LastIndex(alice, "_")] + bob[strings.LastIndex(bob, "_"):], "two keys": alice + " " + bob, "nothing": "",
	} {
		for _, path := range []string{"/mcp", "/mcp/automation"} {
			got := raw(s, path, list, "as", "", "Authorization", "Bearer "+token)
			if got.StatusCode != http.StatusUnauthorized || strings.Contains(got.Text, "of alice") || token != "" && strings.Contains(got.Text, token) {
				t.Errorf("%s at %s: %s %s", what, path, got.Status, got.Text)
			}
		}
	}
	for what, headers := range map[string][]string{
		"cookie of a session": {"as", "", "Cookie", "catena_session=" + session}, "cookie of a link": {"as", "", "Cookie", "catena_share=" + pass}, "key in the address": {"as", ""},
	} {
		if got := raw(s, "/mcp?access_token="+alice+"&key="+alice+"&token="+alice, list, headers...); got.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s: %s %s", what, got.Status, got.Text)
		}
	}
	begun := raw(s, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`, auth...)
	for _, id := range []string{begun.Header.Get("Mcp-Session-Id"), "alice", "1"} {
		got := raw(s, "/mcp", list, "Authorization", "Bearer "+bob, "Mcp-Session-Id", id)
		if strings.Contains(got.Text, "of alice") || got.StatusCode == http.StatusOK && !strings.Contains(got.Text, `"total":0`) {
			t.Errorf("bob with alice's session %q: %s %s", id, got.Status, got.Text)
		}
	}
}
