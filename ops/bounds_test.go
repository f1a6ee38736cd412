package ops_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"catena/decks"
	"catena/engine"
	"catena/ops"
	"catena/ops/collection"
	"catena/ops/drive"
	"catena/rest/resttest"
	"catena/storage"
	"catena/storage/relation"
	"catena/storage/subscription"
)

// TestBounds gives operations as much as they take, and one more, which they refuse with an error that says how much
// they take.
func TestBounds(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Storage: func(c *storage.Config) {
		c.Bounds = c.Bounds.With(collection.Limits{Members: 17, Collections: 13}, drive.Limits{Roots: 5}, relation.Limits{Documents: 11}, subscription.Limits{User: 19, Document: 23})
	}})
	run := func(op, input string, params any) *resttest.Answer {
		body, err := json.Marshal(map[string]any{"input": input, "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return s.Do("POST", "/api/v1/automation/"+op, string(body))
	}
	fill := func(typ, prefix string, n int) {
		for i := range n {
			run("Document.Create", "/", map[string]any{"type": typ, "name": prefix + strconv.Itoa(i)})
		}
	}
	for _, name := range []string{"a", "b", "of200", "of201", "of500", "of501"} {
		run("Document.Create", "/", map[string]any{"type": "File", "name": name})
	}
	fill("File", "d", 20)
	fill("Collection", "c", 15)
	for _, name := range []string{"sue", "u0", "u1", "u2"} {
		s.User(name, "administrators")
	}
	each := func(n int, do func(i int) *resttest.Answer) (last *resttest.Answer) {
		for i := range n {
			last = do(i)
		}
		return last
	}
	subscribe := func(user string, doc, notification int) *resttest.Answer {
		body := fmt.Sprintf(`{"input":"/d%d","params":{"notifications":[%q]}}`, doc, subscription.Notifications()[notification])
		return s.Do("POST", "/api/v1/automation/Document.Subscribe", body, "as", user)
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
		{"members of a collection", 17, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer {
				return run("Document.AddToCollection", fmt.Sprintf("/d%d", i), map[string]any{"collection": "/c0"})
			})
		}},
		{"collections of a document", 13, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer {
				return run("Document.AddToCollection", "/a", map[string]any{"collection": fmt.Sprintf("/c%d", i+1)})
			})
		}},
		{"documents that one is related to", 11, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer {
				return run("Document.AddRelation", "/of200", map[string]any{"object": fmt.Sprintf("/d%d", i), "predicate": "cites"})
			})
		}},
		{"documents that are related to one", 11, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer {
				return run("Document.AddRelation", fmt.Sprintf("/d%d", i), map[string]any{"object": "/of201", "predicate": "cites"})
			})
		}},
		{"subscriptions of a user", 19, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer { return subscribe("sue", i/8, i%8) })
		}},
		{"subscriptions to a document", 23, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer { return subscribe(fmt.Sprintf("u%d", i/8), 15, i%8) })
		}},
		{"roots of a user", 5, func(n int) *resttest.Answer {
			return each(n, func(i int) *resttest.Answer {
				return run("PlatformDrive.SetSynchronization", fmt.Sprintf("/c%d", i), map[string]any{"enable": true})
			})
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
			if got := b.ask(limit + 1); got.StatusCode < 400 || got.StatusCode >= 500 || !regexp.MustCompile(fmt.Sprintf(`\b%d\b`, limit)).MatchString(got.Text) {
				t.Errorf("%d: %d %.400s", limit+1, got.StatusCode, got.Text)
			}
		})
	}
}

// TestDeprecated looks for the operations that deprecated ones name to be used instead.
func TestDeprecated(t *testing.T) {
	set, err := engine.NewSet(ops.All(ops.Config{})...)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range set.Names() {
		d, _ := set.Op(name)
		if _, ok := d.Deprecated.Day(); !ok {
			continue
		}
		n++
		if instead := d.Deprecated.Instead; instead != "" {
			if other, ok := set.Op(instead); !ok || other.Deprecated.Since != "" {
				t.Errorf("%s: %s is there %v, deprecated %v", name, instead, ok, other != nil)
			}
		}
	}
	if n < 3 {
		t.Errorf("%d are deprecated", n)
	}
}

// TestSecrets looks for parameters that have the name of a secret and are not declared as one: those that are none are
// named here.
func TestSecrets(t *testing.T) {
	set, err := engine.NewSet(append(ops.All(ops.Config{}), decks.Ops())...)
	if err != nil {
		t.Fatal(err)
	}
	none := map[string]bool{
		"Bulk.Load key": true, "Deck.DownloadExport key": true, "Directory.SuggestEntries keySeparator": true, "LocalConfiguration.PutSimpleConfigurationParameter key": true,
		"OAuth2.UpdateToken token": true, "PDF.Encrypt keyLength": true, "PDF.EncryptReadOnly keyLength": true, "Traces.Get traceKey": true, "Credential.Save tokenUrl": true, "Http.Request credential": true, "Http.Send credential": true, "Mail.Receive credential": true, "Webhook.Update newSecret": true,
	}
	secrets := 0
	for _, name := range set.Names() {
		d, _ := set.Op(name)
		for _, p := range d.Params() {
			at := name + " " + p.Name
			if p.Secret {
				secrets++
			} else if engine.SecretName(p.Name) && !none[at] {
				t.Errorf("%s: is it a secret?", at)
			}
			delete(none, at)
		}
	}
	if len(none) > 0 || secrets < 20 {
		t.Errorf("%d secrets; there is no %v", secrets, none)
	}
}
