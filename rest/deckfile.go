package rest

import (
	"fmt"
	"net/http"

	"catena/engine"
	"catena/storage/fault"
)

const opFile = "Deck.OpenFile"

// deckFile sends a picture of a deck to whoever may see the deck.
func deckFile(x *exchange) error {
	p, err := x.named("username", "slug", "number", "name")
	if err != nil {
		return err
	}
	p["key"] = x.query().Get("key")
	return x.sendFile(p)
}

// shareFile sends a picture of a deck to whoever has a private link to it.
func shareFile(x *exchange) error {
	p, err := x.named("token", "number", "name")
	if err != nil {
		return err
	}
	p["pass"] = x.query().Get("pass")
	return x.sendFile(p)
}

// sendFile sends the picture that number and name stand for.
func (x *exchange) sendFile(p values) error {
	p["address"] = fmt.Sprintf("files/%s/%s", p["number"], p["name"])
	delete(p, "number")
	delete(p, "name")
	res, err := x.s.Engine.Run(x.r.Context(), engine.Call{Op: opFile, Params: p, As: x.as, Door: x.door(), RequestID: x.id})
	if err != nil {
		return err
	}
	b, ok := res.Value.(*engine.Blob)
	if !ok {
		return fault.Internal.Errorf("%s: %T is no file", opFile, res.Value)
	}
	x.write(&answer{status: http.StatusOK, file: &file{blob: b, inline: true}})
	return nil
}
