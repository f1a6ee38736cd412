package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

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

const (
	eventPause   = 250 * time.Millisecond
	eventSilence = 15 * time.Second // longest time without a word
	eventTime    = 5 * time.Minute  // longest stream
	maxStreams   = 200
)

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
	state, body, err := x.exportState(call)
	if err != nil {
		return err
	}
	if last := x.r.Header.Get("Last-Event-ID"); last == state && state != "pending" {
		return x.noContent() // which tells a browser not to come back
	}
	select {
	case x.s.streams <- struct{}{}:
		defer func() { <-x.s.streams }()
	default:
		return fault.Unavailable.Errorf("events: %d streams are open", maxStreams)
	}
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method != http.MethodHead {
		x.follow(call, state, body)
	}
	return nil
}

// exportState reads an export as its caller, and says which state it is in.
func (x *exchange) exportState(call engine.Call) (state string, body []byte, err error) {
	call.As = x.as
	res, err := x.s.Engine.Run(x.r.Context(), call)
	if err != nil {
		return "", nil, err
	}
	m, _ := res.Value.(map[string]any)
	data, _ := m["data"].(map[string]any)
	state, _ = data["status"].(string)
	body, err = json.Marshal(struct {
		Data any `json:"data"`
		Meta any `json:"meta,omitempty"`
	}{data, m["meta"]})
	return state, body, err
}

// follow sends every change of an export. Whoever may no longer see it gets no more.
func (x *exchange) follow(call engine.Call, state string, body []byte) {
	ctx, cancel := context.WithTimeout(x.r.Context(), eventTime)
	defer cancel()
	rc := http.NewResponseController(x.w)
	tick := time.NewTicker(eventPause)
	defer tick.Stop()
	var sent []byte
	spoken := time.Now()
	for {
		var err error
		switch {
		case !bytes.Equal(body, sent):
			_, err = fmt.Fprintf(x.w, "id: %s\nevent: export\ndata: %s\n\n", state, body)
			sent, spoken = body, time.Now()
		case time.Since(spoken) > eventSilence:
			_, err = fmt.Fprint(x.w, ": still pending\n\n")
			spoken = time.Now()
		}
		if err != nil || rc.Flush() != nil || state != "pending" {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-x.s.runs.ctx.Done():
			return
		case <-tick.C:
		}
		if state, body, err = x.exportState(call); err != nil {
			return
		}
	}
}
