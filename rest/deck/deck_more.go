package deck

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// moreDeckRoutes are the addresses of the deck service that the specification leaves out:
// presentations from elsewhere, teams and who is in them, webhooks.
func moreDeckRoutes() []rest.Route {
	const done, made, none = http.StatusOK, http.StatusCreated, http.StatusNoContent
	id, user, hook := numberOf("id"), segmentOf("username", "username"), segmentOf("webhook", "id")
	return []rest.Route{
		{Method: "POST", Path: "/v1/decks/import", Body: rest.SlidesBody, Handle: decks("Deck.Import", made, viewOf, presentation)},
		{Method: "GET", Path: "/v1/teams", Handle: decks("Team.List", done, baseOf)},
		{Method: "POST", Path: "/v1/teams", Handle: shapedDecks("Team.Create", made, teamPlace, baseOf, membersOf("name slug owner billing_period thumbnail_url"))},
		{Method: "GET", Path: "/v1/teams/:id", Handle: decks("Team.Get", done, baseOf, id)},
		{Method: "PATCH", Path: "/v1/teams/:id", Body: rest.PatchBody, Handle: decks("Team.Update", done, baseOf, id, membersOf("name slug billing_period thumbnail_url"))},
		{Method: "DELETE", Path: "/v1/teams/:id", Handle: decks("Team.Delete", none, id)},
		{Method: "PUT", Path: "/v1/teams/:id/members/:username", Handle: decks("Team.SetMember", done, id, user, membersOf("role"))},
		{Method: "DELETE", Path: "/v1/teams/:id/members/:username", Handle: decks("Team.RemoveMember", none, id, user)},
		{Method: "GET", Path: "/v1/webhooks", Handle: hooks("Webhook.List", done)},
		{Method: "POST", Path: "/v1/webhooks", Handle: hooks("Webhook.Create", made, membersOf("url events description"))},
		{Method: "GET", Path: "/v1/webhooks/:webhook", Handle: hooks("Webhook.Get", done, hook)},
		{Method: "PATCH", Path: "/v1/webhooks/:webhook", Body: rest.PatchBody, Handle: hooks("Webhook.Update", done, hook, membersOf("url events description enabled new_secret:newSecret"))},
		{Method: "DELETE", Path: "/v1/webhooks/:webhook", Handle: hooks("Webhook.Delete", none, hook)},
		{Method: "GET", Path: "/v1/webhooks/:webhook/deliveries", Handle: hooks("Webhook.Deliveries", done, hook, asked("limit"))},
		{Method: "POST", Path: "/v1/webhooks/:webhook/deliveries/:delivery/redeliver", Body: rest.NoBody, Handle: hooks("Webhook.Redeliver", done, hook, segmentOf("delivery", "delivery"))},
	}
}

// segmentOf reads a segment of the address as a parameter.
func segmentOf(segment, param string) deckParams {
	return func(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
		text, err := x.Param(segment)
		return p.Text(param, text), err
	}
}

// asked passes parts of the query on.
func asked(names ...string) deckParams {
	return func(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
		for _, name := range names {
			if x.Query().Has(name) {
				p = p.Text(name, x.Query().Get(name))
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
	return func(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
		body, err := fieldsOf(x, nil)
		if err != nil || body == nil {
			return p, err
		}
		var wrapped struct{ Fields map[string]json.RawMessage }
		if err := json.Unmarshal(body.Close(), &wrapped); err != nil {
			return p, fault.Invalid.Errorf("body: %v", err).WithCode(fault.CodeMalformedJSON)
		}
		for name, raw := range wrapped.Fields {
			param, ok := known[name]
			if !ok {
				return p, fault.Invalid.Errorf("%.40s: is no field here", name).In(name).WithCode(fault.CodeUnknownField)
			}
			p = p.Add(param, raw)
		}
		return p, nil
	}
}

// presentation reads what is to become a deck: JSON with the text and what it is written in,
// or the text itself.
func presentation(x *rest.Request, p rest.RawParams) (rest.RawParams, error) {
	typ, _ := rest.MediaType(x.HTTP.Header)
	format, text := rest.SlideFormats[typ]
	if !text {
		return membersOf("source format title visibility")(x, p)
	}
	body, err := x.ReadBody()
	if err != nil {
		return p, err
	}
	if x.Query().Has("format") {
		format = x.Query().Get("format")
	}
	if format != "" {
		p = p.Text("format", format)
	}
	return asked("title", "visibility")(x, p.Text("source", string(body)))
}

// hooks makes a handler that runs an operation on webhooks, and shows what it returns as the
// deck service shows things.
func hooks(op string, status int, parts ...deckParams) rest.HandlerFunc {
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
func shapedDecks(op string, status int, shape func(any) any, parts ...deckParams) rest.HandlerFunc {
	return func(x *rest.Request) error {
		call, err := deckCall(x, op, parts)
		if err != nil {
			return err
		}
		return runDeck(x, call, status, shape)
	}
}

// deckCall reads a request of the deck service.
func deckCall(x *rest.Request, op string, parts []deckParams) (engine.Call, error) {
	call := engine.Call{Op: op}
	if err := x.Rate(); err != nil {
		return call, err
	}
	if !acceptsJSON(x) {
		return call, fault.Invalid.Errorf("answers are JSON, which Accept leaves out").WithCode(fault.CodeNotAcceptable)
	}
	x.Revision = deckRevision(x)
	if !knownRevisions[x.Revision] {
		return call, fault.Invalid.Errorf("revision %.40q: there are A and B", x.Revision).In("revision").WithCode(fault.CodeUnknownRevision)
	}
	p, err := params(x, parts...)
	call.RawParams = p.Close()
	return call, err
}
