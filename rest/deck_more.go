package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"catena/engine"
	"catena/storage/fault"
)

// moreDeckRoutes are the addresses of the deck service that the specification leaves out:
// presentations from elsewhere, teams and who is in them, webhooks.
func moreDeckRoutes() []route {
	const done, made, none = http.StatusOK, http.StatusCreated, http.StatusNoContent
	id, user, hook := numberOf("id"), segmentOf("username", "username"), segmentOf("webhook", "id")
	return []route{
		{method: "POST", path: "/v1/decks/import", body: slidesBody, handle: decks("Deck.Import", made, viewOf, presentation)},
		{method: "GET", path: "/v1/teams", handle: decks("Team.List", done, baseOf)},
		{method: "POST", path: "/v1/teams", handle: shapedDecks("Team.Create", made, teamPlace, baseOf, membersOf("name slug owner billing_period thumbnail_url"))},
		{method: "GET", path: "/v1/teams/:id", handle: decks("Team.Get", done, baseOf, id)},
		{method: "PATCH", path: "/v1/teams/:id", body: patchBody, handle: decks("Team.Update", done, baseOf, id, membersOf("name slug billing_period thumbnail_url"))},
		{method: "DELETE", path: "/v1/teams/:id", handle: decks("Team.Delete", none, id)},
		{method: "PUT", path: "/v1/teams/:id/members/:username", handle: decks("Team.SetMember", done, id, user, membersOf("role"))},
		{method: "DELETE", path: "/v1/teams/:id/members/:username", handle: decks("Team.RemoveMember", none, id, user)},
		{method: "GET", path: "/v1/webhooks", handle: hooks("Webhook.List", done)},
		{method: "POST", path: "/v1/webhooks", handle: hooks("Webhook.Create", made, membersOf("url events description"))},
		{method: "GET", path: "/v1/webhooks/:webhook", handle: hooks("Webhook.Get", done, hook)},
		{method: "PATCH", path: "/v1/webhooks/:webhook", body: patchBody, handle: hooks("Webhook.Update", done, hook, membersOf("url events description enabled new_secret:newSecret"))},
		{method: "DELETE", path: "/v1/webhooks/:webhook", handle: hooks("Webhook.Delete", none, hook)},
		{method: "GET", path: "/v1/webhooks/:webhook/deliveries", handle: hooks("Webhook.Deliveries", done, hook, asked("limit"))},
		{method: "POST", path: "/v1/webhooks/:webhook/deliveries/:delivery/redeliver", body: noBody, handle: hooks("Webhook.Redeliver", done, hook, segmentOf("delivery", "delivery"))},
	}
}

// segmentOf reads a segment of the address as a parameter.
func segmentOf(segment, param string) deckParams {
	return func(x *exchange, p rawParams) (rawParams, error) {
		text, err := x.param(segment)
		return p.text(param, text), err
	}
}

// asked passes parts of the query on.
func asked(names ...string) deckParams {
	return func(x *exchange, p rawParams) (rawParams, error) {
		for _, name := range names {
			if x.query().Has(name) {
				p = p.text(name, x.query().Get(name))
			}
		}
		return p, nil
	}
}

// membersOf reads the members of the body that there may be as parameters of the same name,
// or of the one that follows a colon.
func membersOf(names string) deckParams {
	known := map[string]string{}
	for name := range strings.FieldsSeq(names) {
		name, param, ok := strings.Cut(name, ":")
		if !ok {
			param = name
		}
		known[name] = param
	}
	return func(x *exchange, p rawParams) (rawParams, error) {
		body, err := fieldsOf(x, nil)
		if err != nil || body == nil {
			return p, err
		}
		var wrapped struct{ Fields map[string]json.RawMessage }
		if err := json.Unmarshal(body.close(), &wrapped); err != nil {
			return p, fault.Invalid.Errorf("body: %v", err).WithCode(fault.CodeMalformedJSON)
		}
		for name, raw := range wrapped.Fields {
			param, ok := known[name]
			if !ok {
				return p, fault.Invalid.Errorf("%.40s: is no field here", name).In(name).WithCode(fault.CodeUnknownField)
			}
			p = p.add(param, raw)
		}
		return p, nil
	}
}

// slideFormats are the media types of texts that become slides, and what they are written in; "" is to be found out.
var slideFormats = map[string]string{"text/html": "html", "text/markdown": "markdown", "text/plain": ""}

// presentation reads what is to become a deck: JSON with the text and what it is written in,
// or the text itself.
func presentation(x *exchange, p rawParams) (rawParams, error) {
	typ, _ := mediaType(x.r.Header)
	format, text := slideFormats[typ]
	if !text {
		return membersOf("source format title visibility")(x, p)
	}
	body, err := x.readBody()
	if err != nil {
		return p, err
	}
	if x.query().Has("format") {
		format = x.query().Get("format")
	}
	if format != "" {
		p = p.text("format", format)
	}
	return asked("title", "visibility")(x, p.text("source", string(body)))
}

// hooks makes a handler that runs an operation on webhooks, and shows what it returns as the
// deck service shows things.
func hooks(op string, status int, parts ...deckParams) handler {
	return shapedDecks(op, status, func(v any) any {
		switch v := v.(type) {
		case []any:
			list := make([]any, len(v))
			for i := range v {
				list[i] = hookShape(v[i])
			}
			return map[string]any{"data": list, "meta": map[string]any{"total": int64(len(list))}}
		case map[string]any:
			return map[string]any{"data": hookShape(v), "location": hookPlace(v)}
		}
		return map[string]any{"data": nil}
	}, parts...)
}

// slidePlace adds where a new slide is found.
func slidePlace(v any) any {
	m, _ := v.(map[string]any)
	data, ok := m["data"].(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(m)
	out["location"] = fmt.Sprintf("/v1/decks/%v/slides/%v", data["deck_id"], data["number"])
	return out
}

// teamPlace adds where a new team is found.
func teamPlace(v any) any {
	m, _ := v.(map[string]any)
	data, ok := m["data"].(map[string]any)
	if !ok {
		return v
	}
	return map[string]any{"data": data, "location": fmt.Sprintf("/v1/teams/%v", data["id"])}
}

func hookPlace(v map[string]any) string {
	id, _ := v["id"].(string)
	return "/v1/webhooks/" + id
}

// hookNames are the members of webhooks and their deliveries that are called otherwise here.
var hookNames = map[string]string{
	"created": "created_at", "failingSince": "failing_since", "finished": "finished_at", "updated": "updated_at",
}

func hookShape(v any) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(m))
	for name, value := range m {
		if to := hookNames[name]; to != "" {
			name = to
		}
		if at, ok := value.(time.Time); ok {
			value = at.UTC().Format("2006-01-02T15:04:05.000Z")
		}
		out[name] = value
	}
	return out
}

// shapedDecks is decks for an operation whose result is not shaped for the deck service.
func shapedDecks(op string, status int, shape func(any) any, parts ...deckParams) handler {
	return func(x *exchange) error {
		call, err := x.deckCall(op, parts)
		if err != nil {
			return err
		}
		return x.runDeck(call, status, shape)
	}
}

// deckCall reads a request of the deck service.
func (x *exchange) deckCall(op string, parts []deckParams) (engine.Call, error) {
	call := engine.Call{Op: op}
	if err := x.rate(); err != nil {
		return call, err
	}
	if !x.acceptsJSON() {
		return call, fault.Invalid.Errorf("answers are JSON, which Accept leaves out").WithCode(fault.CodeNotAcceptable)
	}
	x.revision = x.deckRevision()
	if !knownRevisions[x.revision] {
		return call, fault.Invalid.Errorf("revision %.40q: there are A and B", x.revision).In("revision").WithCode(fault.CodeUnknownRevision)
	}
	p, err := x.params(parts...)
	call.RawParams = p.close()
	return call, err
}
