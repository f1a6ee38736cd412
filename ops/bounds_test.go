package ops_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"catena/rest/resttest"
)

// TestBounds gives operations as much as they take, and one more, which they refuse with an error that says how much
// they take.
func TestBounds(t *testing.T) {
	s := resttest.Start(t, resttest.Config{})
	run := func(op, input string, params any) *resttest.Answer {
		body, err := json.Marshal(map[string]any{"input": input, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return s.Do("POST", "/api/v1/automation/"+op, string(body))
	}
	for _, name := range []string{"a", "b", "of200", "of201", "of500", "of501"} {
		run("Document.Create", "/", map[string]any{"type": "File", "name": name})
	}
	var hooks []string
	hook := func(description string, events ...string) *resttest.Answer {
		return run("Webhook.Create", "", map[string]any{"url": "https://example.org", "events": events, "description": description})
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, b := range []struct {
		name  string
		limit int
		ask   func(n int) *resttest.Answer
	}{
		{"bytes of a tag", 200, func(n int) *resttest.Answer {
			return run("Services.TagDocument", fmt.Sprintf("/of%d", n), map[string]any{"tags": x(n)})
		}},
		{"tags of a document", 500, func(n int) *resttest.Answer {
			tags := make([]string, n)
			for i := range tags {
				tags[i] = "t" + strconv.Itoa(i)
			}
			return run("Services.TagDocument", fmt.Sprintf("/of%d", n), map[string]any{"tags": strings.Join(tags, ",")})
		}},
		{"bytes of a comment", 100_000, func(n int) *resttest.Answer {
			return run("Comment.Create", "/a", map[string]any{"comment": map[string]any{"text": x(n)}})
		}},
		{"bytes of a relation's name", 500, func(n int) *resttest.Answer {
			return run("Document.AddRelation", "/a", map[string]any{"object": "/b", "predicate": x(n)})
		}},
		{"webhooks of a user", 20, func(n int) (last *resttest.Answer) {
			for len(hooks) < n {
				if last = hook("", "*"); last.StatusCode >= 300 {
					break
				}
				value, _ := last.JSON(t)["value"].(map[string]any)
				id, _ := value["id"].(string)
				hooks = append(hooks, id)
			}
			return last
		}},
		{"bytes of a webhook's description", 500, func(n int) *resttest.Answer {
			run("Webhook.Delete", "", map[string]any{"id": hooks[0]})
			return hook(x(n), "*")
		}},
		{"bytes of a mail's subject", 900, func(n int) *resttest.Answer {
			return run("Document.Mail", "/a", map[string]any{"from": "a@example.org", "to": "b@example.org", "subject": x(n), "message": "text"})
		}},
		{"recipients of a mail", 1000, func(n int) *resttest.Answer {
			to := make([]string, n)
			for i := range to {
				to[i] = fmt.Sprintf("a%d@example.org", i)
			}
			return run("Document.Mail", "/a", map[string]any{"from": "a@example.org", "to": strings.Join(to, ","), "subject": "s", "message": "text"})
		}},
	} {
		t.Run(strings.ReplaceAll(b.name, " ", "_"), func(t *testing.T) {
			limit := b.limit
			if got := b.ask(limit); got.StatusCode >= 300 {
				t.Errorf("%d: %d %.400s", limit, got.StatusCode, got.Text)
			}
			if got := b.ask(limit + 1); got.StatusCode < 400 || got.StatusCode >= 500 || !strings.Contains(got.Text, strconv.Itoa(limit)) {
				t.Errorf("%d: %d %.400s", limit+1, got.StatusCode, got.Text)
			}
		})
	}
}
