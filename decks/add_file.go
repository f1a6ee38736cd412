package decks

import (
	"encoding/base64"
	"strings"

	"catena/decks/deck"
	"catena/decks/file"
	"catena/engine"
	"catena/storage"
	"catena/storage/blob"
	"catena/storage/fault"
)

var addFile = engine.Op{
	Name: "Deck.AddFile", Label: "Add File to Deck", Category: deck.Category,
	Doc: "Adds a picture to one of the caller's decks and returns the address by which the deck's HTML shows it: PNG, JPEG, GIF, " +
		"WebP, AVIF or SVG of up to 10 MiB. The picture is the input or, up to 4 MiB, a parameter. Everyone who may see the deck may see " +
		"its pictures. They are deleted together with the deck.",
	Callers: engine.Anyone,
	Run:     engine.Overload(engine.On(addFileParams.void), engine.On(addFileParams.blob)),
}

type addFileParams struct {
	ID   int64  `json:"id" doc:"Number of the deck."`
	Name string `json:"name" default:"" doc:"Name of the picture, such as delta.png; a picture that is the input has its own."`
	Data string `json:"data" default:"" doc:"The picture in base64 or as a data: URL, if it is not the input."`
}

// maxInline bounds a picture that is a parameter. A parameter is held in memory as text and again decoded;
// larger pictures are sent as files.
const maxInline = 4 << 20 // bytes of a picture that is a parameter

func (p addFileParams) void(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	text := p.Data
	if head, data, ok := strings.Cut(text, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		text = data
	}
	switch {
	case text == "":
		return nil, deck.Invalid("data", fault.CodeMissingParameter, "data: is required without an input")
	// Compared before decoding, so that a parameter that is too large is refused without a second copy of it.
	case len(text) > base64.StdEncoding.EncodedLen(maxInline):
		return nil, fault.Limit.Errorf("data: the picture is larger than %d bytes; send it to /v1/decks/%d/files", maxInline, p.ID).In("data").WithCode(fault.CodeTooLarge)
	}
	data, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		return nil, deck.Invalid("data", fault.CodeInvalidValue, "data: is not base64: %v", err)
	}
	return p.add(c, blob.FromBytes(p.Name, "application/octet-stream", data))
}

func (p addFileParams) blob(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	if p.Data != "" {
		return nil, deck.Invalid("data", fault.CodeConflictingFields, "data: cannot be combined with an input")
	}
	return p.add(c, b)
}

func (p addFileParams) add(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	d, err := deck.Find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	// The rows of files belong to the server; deck.Find has checked that the deck is the caller's.
	f, err := file.Add(deck.AsSystem(c.Tx), d.ID(), b)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": fileShape(p.ID, f)}, nil
}

func fileShape(id int64, f *file.File) map[string]any {
	return map[string]any{
		"deck_id": id, "number": f.Number, "name": f.Name, "address": f.Address(), "type": f.Blob.Type, "size": f.Blob.Size, "added_at": deck.Stamp(f.Added),
	}
}
