package deck

import (
	"fmt"
	"net/http"

	"catena/engine"
	"catena/rest"
	"catena/storage/fault"
)

const opFile = "Deck.OpenFile"

// ownFile sends a picture of a deck to its owner.
func ownFile(x *rest.Request) error {
	if err := x.Rate(); err != nil {
		return err
	}
	p, err := params(x, numberOf("id"), numberOf("number"))
	if err != nil {
		return err
	}
	return openFile(x, engine.Call{RawParams: p.Close()})
}

// SendFile sends the picture that number and name stand for.
func SendFile(x *rest.Request, p rest.Values) error {
	p["address"] = fmt.Sprintf("files/%s/%s", p["number"], p["name"])
	delete(p, "number")
	delete(p, "name")
	return openFile(x, engine.Call{Params: p})
}

func openFile(x *rest.Request, call engine.Call) error {
	call.Op, call.As, call.Door, call.RequestID = opFile, x.As, x.Door(), x.ID
	res, err := x.Server.Engine.Run(x.HTTP.Context(), call)
	if err != nil {
		return err
	}
	b, ok := res.Value.(*engine.Blob)
	if !ok {
		return fault.Internal.Errorf("%s: %T is not a file", opFile, res.Value)
	}
	x.Write(&rest.Answer{Status: http.StatusOK, File: &rest.File{Blob: b, Inline: true}})
	return nil
}

// addFile keeps the picture that the body is, or the one file in a body of several parts,
// with a deck.
func addFile(x *rest.Request) error {
	call, err := deckCall(x, "Deck.AddFile", []deckParams{numberOf("id")})
	if err != nil {
		return err
	}
	b, err := picture(x)
	if err != nil {
		return err
	}
	call.Input = b
	return runDeck(x, call, http.StatusCreated, func(v any) any {
		m, _ := v.(map[string]any)
		data, _ := m["data"].(map[string]any)
		return map[string]any{"data": data, "location": fmt.Sprintf("/v1/decks/%v/files/%v", data["deck_id"], data["number"])}
	})
}

// picture takes the body in as a file.
func picture(x *rest.Request) (*engine.Blob, error) {
	typ, ps, err := x.Media()
	switch {
	case err != nil:
		return nil, err
	case typ == "multipart/form-data":
		_, files, err := x.ReadParts(ps["boundary"], false)
		if err != nil {
			return nil, err
		}
		if len(files) != 1 {
			return nil, fault.Invalid.Errorf("body: must contain one file, not %d", len(files)).WithCode(fault.CodeNoPicture)
		}
		return files[0], nil
	case x.HTTP.ContentLength > x.BlobLimit():
		return nil, rest.TooLarge("file", x.BlobLimit())
	}
	name := x.Query().Get("name")
	if name == "" {
		name = "picture"
	}
	b, err := x.SpoolFrom(name, typ, x.Moving())
	if err == nil {
		x.BodyRead()
	}
	return b, err
}
