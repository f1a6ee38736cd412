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

// ownFile sends a picture of a deck to its owner.
func ownFile(x *exchange) error {
	if err := x.rate(); err != nil {
		return err
	}
	p, err := x.params(numberOf("id"), numberOf("number"))
	if err != nil {
		return err
	}
	return x.openFile(engine.Call{RawParams: p.close()})
}

// sendFile sends the picture that number and name stand for.
func (x *exchange) sendFile(p values) error {
	p["address"] = fmt.Sprintf("files/%s/%s", p["number"], p["name"])
	delete(p, "number")
	delete(p, "name")
	return x.openFile(engine.Call{Params: p})
}

func (x *exchange) openFile(call engine.Call) error {
	call.Op, call.As, call.Door, call.RequestID = opFile, x.as, x.door(), x.id
	res, err := x.s.Engine.Run(x.r.Context(), call)
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

// addFile keeps the picture that the body is, or the one file in a body of several parts,
// with a deck.
func addFile(x *exchange) error {
	call, err := x.deckCall("Deck.AddFile", []deckParams{numberOf("id")})
	if err != nil {
		return err
	}
	b, err := x.picture()
	if err != nil {
		return err
	}
	call.Input = b
	return x.runDeck(call, http.StatusCreated, func(v any) any {
		m, _ := v.(map[string]any)
		data, _ := m["data"].(map[string]any)
		return map[string]any{"data": data, "location": fmt.Sprintf("/v1/decks/%v/files/%v", data["deck_id"], data["number"])}
	})
}

// picture takes the body in as a file.
func (x *exchange) picture() (*engine.Blob, error) {
	typ, ps, err := x.media()
	switch {
	case err != nil:
		return nil, err
	case typ == "multipart/form-data":
		_, files, err := x.readParts(ps["boundary"], false)
		if err != nil {
			return nil, err
		}
		if len(files) != 1 {
			return nil, fault.Invalid.Errorf("body: has %d files, not one", len(files)).WithCode(fault.CodeNoPicture)
		}
		return files[0], nil
	case x.r.ContentLength > x.blobLimit():
		return nil, tooLarge("file", x.blobLimit())
	}
	name := x.query().Get("name")
	if name == "" {
		name = "picture"
	}
	b, err := x.spoolFrom(name, typ, x.moving())
	if err == nil {
		x.bodyRead()
	}
	return b, err
}
