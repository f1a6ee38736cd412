package rest

import (
	"net/http"

	"catena/engine"
	"catena/storage/fault"
)

const opFile = "Deck.OpenFile"

// deckFile sends a picture of a deck to whoever may see the deck.
func deckFile(x *exchange) error {
	user, err := x.param("username")
	if err != nil {
		return err
	}
	slug, err := x.param("slug")
	if err != nil {
		return err
	}
	return x.sendFile(values{"username": user, "slug": slug, "key": x.query().Get("key")})
}

// shareFile sends a picture of a deck to whoever has a private link to it.
func shareFile(x *exchange) error {
	token, err := x.param("token")
	if err != nil {
		return err
	}
	return x.sendFile(values{"token": token, "pass": x.query().Get("pass")})
}

func (x *exchange) sendFile(p values) error {
	number, err := x.param("number")
	if err != nil {
		return err
	}
	name, err := x.param("name")
	if err != nil {
		return err
	}
	p["address"] = "files/" + number + "/" + name
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
