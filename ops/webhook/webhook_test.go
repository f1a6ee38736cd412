package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"catena/ops/opstest"
	"catena/ops/webhook"
)

const (
	notFound = "! notfound: webhook $hook"
	badURL   = "! invalid url: url …: must be an http or https address"
	badEvent = "! invalid events: events: …"
)

func TestCreatedWebhooks(t *testing.T) {
	s := opstest.Serve(t, webhook.Ops)
	s.Play([]opstest.Row{
		{"alice", "Webhook.Create", "", `{"url": "https://a.example.org/in", "events": ["deck.created", "document.*"]}`, `{…"events":["deck.created","document.*"],…"owner":"alice","secret":"whsec_…`},
		{"", "keep", "", "value.id", "hook"},
		{"", "Webhook.Get", "", `{"id": "$hook"}`, `{…"description":"","enabled":true,…"failures":0,"id":"$hook","owner":"alice","updated":…"url":"https://a.example.org/in"}}`}, // no secret
		{"", "Webhook.Create", "", `{"url": "ftp://a.example.org", "events": ["*"]}`, badURL},
		{"", "Webhook.Create", "", `{"url": "", "events": ["*"]}`, badURL},
		{"", "Webhook.Create", "", `{"url": "https://", "events": ["*"]}`, badURL},
		{"", "Webhook.Create", "", `{"url": "a.example.org/in", "events": ["*"]}`, badURL},
		{"", "Webhook.Create", "", `{"url": "https://me:pw@a.example.org/", "events": ["*"]}`, "! invalid url: url: must not contain a user, password or fragment"},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/#x", "events": ["*"]}`, "! invalid url: url: must not contain a user, password or fragment"},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/", "events": []}`, "! invalid events: events: must name between 1 and 100 event types"},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/", "events": ["deck.created", ""]}`, badEvent},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/", "events": ["Ünicode!"]}`, badEvent},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/", "events": ["**"]}`, badEvent},
		{"", "Webhook.Create", "", `{"events": ["*"]}`, `! invalid missing_parameter url: parameter "url" is missing`},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/"}`, `! invalid missing_parameter events: parameter "events" is missing`},
		{"", "Webhook.Create", "", `{"url": "https://a.example.org/", "events": {"a": 1}}`, `! invalid events: parameter "events": must be of type stringlist, not map`},
		{"bob", "Webhook.Get", "", `{"id": "$hook"}`, notFound},
		{"", "Webhook.Update", "", `{"id": "$hook", "enabled": false}`, notFound},
		{"", "Webhook.Update", "", `{"id": "$hook", "newSecret": true}`, notFound},
		{"", "Webhook.Delete", "", `{"id": "$hook"}`, notFound},
		{"", "Webhook.Deliveries", "", `{"id": "$hook"}`, notFound},
		{"", "Webhook.Redeliver", "", `{"id": "$hook", "delivery": "x"}`, notFound},
		{"", "Webhook.List", "", `{}`, ""},
		{"", "Webhook.List", "", `{"owner": "alice"}`, "! denied: webhooks of alice: not visible to 'bob'"},
		{"", "Webhook.List", "", `{"owner": "bob"}`, ""},
		{"admin", "Webhook.List", "", `{}`, `{…"id":"$hook"…}`},
		{"", "Webhook.List", "", `{"owner": "bob"}`, ""},
		{"", "Webhook.Get", "", `{"id": "$hook"}`, `{…"owner":"alice"…}`},
		{"", "Webhook.Delete", "", `{"id": "$hook"}`, ""},
		{"alice", "Webhook.Get", "", `{"id": "$hook"}`, notFound},
		{"", "Webhook.Delete", "", `{"id": "$hook"}`, notFound},
		{"", "Webhook.Get", "", `{"id": ""}`, "! notfound: webhook …"},
	})
}

func TestChangedWebhooks(t *testing.T) {
	s := opstest.Serve(t, webhook.Ops)
	s.Play([]opstest.Row{
		{"bob", "Webhook.Create", "", `{"url": "https://a.example.org/in", "events": ["deck.created"], "description": "Erste"}`, `{…"description":"Erste"…}`},
		{"", "keep", "", "value.id", "hook"},
		{"", "Webhook.Update", "", `{"id": "$hook"}`, `{…"description":"Erste","enabled":true,"events":["deck.created"],…"url":"https://a.example.org/in"}}`}, // nothing changes
		{"", "Webhook.Update", "", `{"id": "$hook", "url": "http://b.example.org"}`, `{…"description":"Erste",…"url":"http://b.example.org"}}`},
		{"", "Webhook.Update", "", `{"id": "$hook", "url": "b.example.org"}`, badURL},
		{"", "Webhook.Update", "", `{"id": "$hook", "description": ""}`, `{…"description":"",…"url":"http://b.example.org"}}`}, // an empty one is a value
		{"", "Webhook.Update", "", `{"id": "$hook", "description": "日本 \u0007"}`, `{…"description":"日本 …}`},
		{"", "Webhook.Update", "", `{"id": "$hook", "events": ["*"], "enabled": false}`, `{…"enabled":false,"events":["*"],…}`},
		{"", "Webhook.Update", "", `{"id": "$hook", "events": []}`, "! invalid events: events: must name between 1 and 100 event types"},
		{"", "Webhook.Get", "", `{"id": "$hook"}`, `{…"enabled":false,"events":["*"],…}`}, // as before the failure
		{"", "Webhook.Update", "", `{"id": "$hook", "enabled": true, "newSecret": true}`, `{…"enabled":true,…"secret":"whsec_…}`},
		{"", "Webhook.Update", "", `{"id": "$hook", "newSecret": false}`, `{…"owner":"bob","updated":…}`},
		{"admin", "Webhook.Update", "", `{"id": "$hook", "description": "Seen"}`, `{…"description":"Seen",…"owner":"bob",…}`}, // it stays bob's
		{"bob", "Webhook.Update", "", `{"id": "nope", "description": "Seen"}`, "! notfound: webhook nope"},
		{"", "Webhook.Update", "", `{"description": "Seen"}`, `! invalid missing_parameter id: parameter "id" is missing`},
	})
	for n, want := range map[int]string{500: `{…}`, 501: "! limit description: description: must have at most 500 bytes"} {
		s.Play([]opstest.Row{{"bob", "Webhook.Update", "", fmt.Sprintf(`{"id": "$hook", "description": %q}`, strings.Repeat("d", n)), want}})
	}
	for n, want := range map[int]string{100: `{…}`, 101: "! invalid events: events: must name between 1 and 100 event types"} {
		events := strings.TrimSuffix(strings.Repeat(`"deck.created",`, n), ",")
		s.Play([]opstest.Row{{"bob", "Webhook.Update", "", `{"id": "$hook", "events": [` + events + `]}`, want}})
	}
}

// A user may have twenty webhooks; others have theirs beside.
func TestWebhooksAUserMayHave(t *testing.T) {
	s := opstest.Serve(t, webhook.Ops)
	const one = `{"url": "https://a.example.org/in", "events": ["*"]}`
	for i := range 20 {
		s.Play([]opstest.Row{{"alice", "Webhook.Create", "", one, `{…"owner":"alice"…}`}})
		if i == 0 {
			s.Play([]opstest.Row{{"", "keep", "", "value.id", "first"}})
		}
	}
	s.Play([]opstest.Row{
		{"alice", "Webhook.Create", "", one, "! limit: webhooks: at most 20 per user and 1000 in total are allowed"},
		{"bob", "Webhook.Create", "", one, `{…"owner":"bob"…}`},
		{"alice", "Webhook.Update", "", `{"id": "$first", "description": "still"}`, `{…"description":"still"…}`},
		{"", "Webhook.Delete", "", `{"id": "$first"}`, ""},
		{"", "Webhook.Create", "", one, `{…"owner":"alice"…}`},
	})
	if n := strings.Count(s.Call("alice", "Webhook.List", "", `{}`), `"owner":"alice"`); n != 20 {
		t.Errorf("alice has %d", n)
	}
	if n := strings.Count(s.Call("admin", "Webhook.List", "", `{}`), `"owner":`); n != 21 {
		t.Errorf("all have %d", n)
	}
}

func TestDeliveriesOfWebhooks(t *testing.T) {
	s := opstest.Serve(t, webhook.Ops)
	s.Play([]opstest.Row{
		{"alice", "Webhook.Create", "", `{"url": "https://a.example.org/in", "events": ["*"]}`, `{…}`},
		{"", "keep", "", "value.id", "hook"},
		{"", "Webhook.Deliveries", "", `{"id": "$hook"}`, ""},
		{"", "Webhook.Deliveries", "", `{"id": "$hook", "limit": 1}`, ""},
		{"", "Webhook.Deliveries", "", `{"id": "$hook", "limit": 1000}`, ""},
		{"", "Webhook.Deliveries", "", `{"id": "$hook", "limit": 0}`, "! invalid limit: limit: 0 is not between 1 and 1000"},
		{"", "Webhook.Deliveries", "", `{"id": "$hook", "limit": 1001}`, "! invalid limit: limit: 1001 is not between 1 and 1000"},
		{"", "Webhook.Deliveries", "", `{"id": "$hook", "limit": -1}`, "! invalid limit: limit: -1 is not between 1 and 1000"},
		{"", "Webhook.Deliveries", "", `{"id": "nope"}`, "! notfound: webhook nope"},
		{"", "Webhook.Redeliver", "", `{"id": "$hook", "delivery": "nope"}`, "! notfound: delivery nope"},
		{"", "Webhook.Redeliver", "", `{"id": "$hook", "delivery": ""}`, "! notfound: delivery …"},
		{"", "Webhook.Redeliver", "", `{"id": "$hook"}`, `! invalid missing_parameter delivery: parameter "delivery" is missing`},
	})
}
