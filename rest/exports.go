package rest

import (
	"encoding/json"
	"net/http"

	"catena/engine"
	"catena/storage/fault"
)

// exportRoutes are the addresses of exports of decks.
func exportRoutes() []route {
	deck, id := numberOf("deck_id"), numberOf("id")
	return []route{
		{method: "GET", path: "/v1/decks/:deck_id/exports", handle: decks("Deck.ListExports", http.StatusOK, viewOf, deck)},
		{method: "POST", path: "/v1/decks/:deck_id/exports", handle: decks("Deck.CreateExport", http.StatusAccepted, viewOf, deck, fieldsOf)},
		{method: "GET", path: "/v1/decks/:deck_id/exports/:id", handle: decks("Deck.GetExport", http.StatusOK, viewOf, deck, id)},
		{method: "GET", path: "/v1/decks/:deck_id/exports/:id/download", access: open, handle: downloadExport},
		{method: "GET", path: "/v1/decks/:deck_id/exports/:id/events", handle: exportEvents},
	}
}

// params reads the parts of the parameters.
func (x *exchange) params(parts ...deckParams) (p rawParams, err error) {
	for _, part := range parts {
		if p, err = part(x, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// downloadExport sends the file of an export to whoever has its address.
func downloadExport(x *exchange) error {
	p, err := x.params(numberOf("deck_id"), numberOf("id"))
	if err != nil {
		return err
	}
	p = p.text("expires", x.query().Get("expires")).text("key", x.query().Get("key")).text("signature", x.query().Get("signature"))
	res, err := x.s.Engine.Run(x.r.Context(), engine.Call{
		Op: "Deck.DownloadExport", RawParams: p.close(), As: &engine.Principal{Name: "Guest", ReadOnly: true}, Door: engine.REST, RequestID: x.id,
	})
	if err != nil {
		return err
	}
	b, ok := res.Value.(*engine.Blob)
	if !ok {
		return fault.Internal.Errorf("export: %T is no file", res.Value)
	}
	x.write(&answer{status: http.StatusOK, file: &file{blob: b}})
	return nil
}

// exportEvents streams the states of an export until the last one.
func exportEvents(x *exchange) error {
	if err := x.rate(); err != nil {
		return err
	}
	p, err := x.params(numberOf("deck_id"), numberOf("id"))
	if err != nil {
		return err
	}
	call := engine.Call{Op: "Deck.GetExport", RawParams: p.text("base", x.host()).close(), Door: x.door(), RequestID: x.id}
	return x.stream("export", func() (progress, error) { return x.exportState(call) })
}

// exportState reads an export as its caller.
func (x *exchange) exportState(call engine.Call) (progress, error) {
	call.As = x.as
	res, err := x.s.Engine.Run(x.r.Context(), call)
	if err != nil {
		return progress{}, err
	}
	m, _ := res.Value.(map[string]any)
	data, _ := m["data"].(map[string]any)
	state, _ := data["status"].(string)
	body, err := json.Marshal(struct {
		Data any `json:"data"`
		Meta any `json:"meta,omitempty"`
	}{data, m["meta"]})
	return progress{mark: state, body: body, over: state != "pending"}, err
}
