package deck

import (
	"encoding/json"
	"net/http"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

// exportRoutes are the addresses of exports of decks.
func exportRoutes() []rest.Route {
	deck, id := numberOf("deck_id"), numberOf("id")
	return []rest.Route{
		{Method: "GET", Path: "/v1/decks/:deck_id/exports", Handle: decks("Deck.ListExports", http.StatusOK, viewOf, deck)},
		{Method: "POST", Path: "/v1/decks/:deck_id/exports", Handle: decks("Deck.CreateExport", http.StatusAccepted, viewOf, deck, fieldsOf)},
		{Method: "GET", Path: "/v1/decks/:deck_id/exports/:id", Handle: decks("Deck.GetExport", http.StatusOK, viewOf, deck, id)},
		{Method: "GET", Path: "/v1/decks/:deck_id/exports/:id/download", Access: rest.Open, Handle: downloadExport},
		{Method: "GET", Path: "/v1/decks/:deck_id/exports/:id/events", Handle: exportEvents},
	}
}

// params reads the parts of the parameters.
func params(x *rest.Request, parts ...deckParams) (p rest.RawParams, err error) {
	for _, part := range parts {
		if p, err = part(x, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// downloadExport sends the file of an export to whoever has its address.
func downloadExport(x *rest.Request) error {
	p, err := params(x, numberOf("deck_id"), numberOf("id"))
	if err != nil {
		return err
	}
	p = p.Text("expires", x.Query().Get("expires")).Text("key", x.Query().Get("key")).Text("signature", x.Query().Get("signature"))
	res, err := x.Server.Engine.Run(x.HTTP.Context(), engine.Call{
		Op: "Deck.DownloadExport", RawParams: p.Close(), As: &engine.Principal{Name: "Guest", ReadOnly: true}, Door: engine.REST, RequestID: x.ID,
	})
	if err != nil {
		return err
	}
	b, ok := res.Value.(*engine.Blob)
	if !ok {
		return fault.Internal.Errorf("export: %T is not a file", res.Value)
	}
	x.Write(&rest.Answer{Status: http.StatusOK, File: &rest.File{Blob: b}})
	return nil
}

// exportEvents streams the states of an export until the last one.
func exportEvents(x *rest.Request) error {
	if err := x.Rate(); err != nil {
		return err
	}
	p, err := params(x, numberOf("deck_id"), numberOf("id"))
	if err != nil {
		return err
	}
	call := engine.Call{Op: "Deck.GetExport", RawParams: p.Text("base", x.Host()).Close(), Door: x.Door(), RequestID: x.ID}
	return x.Stream("export", func() (rest.Progress, error) { return exportState(x, call) })
}

// exportState reads an export as its caller.
func exportState(x *rest.Request, call engine.Call) (rest.Progress, error) {
	call.As = x.As
	res, err := x.Server.Engine.Run(x.HTTP.Context(), call)
	if err != nil {
		return rest.Progress{}, err
	}
	m, _ := res.Value.(map[string]any)
	data, _ := m["data"].(map[string]any)
	state, _ := data["status"].(string)
	body, err := json.Marshal(struct {
		Data any `json:"data"`
		Meta any `json:"meta,omitempty"`
	}{data, m["meta"]})
	return rest.Progress{Mark: state, Body: body, Over: state != "pending"}, err
}
