package decks

import (
	"cmp"

	"catena/decks/file"
	"catena/decks/html"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var viewDeck = engine.Op{
	Name: "Deck.View", Label: "View Deck", Category: category, Effect: engine.Reads,
	Doc: "Returns the deck at an address for showing it to whoever may see it: everybody, the owner's team, or the owner alone. What " +
		"the caller may not see does not exist. Member editable of the result says whether the caller is the owner.",
	Run: engine.On(viewDeckParams.run),
}

type viewDeckParams struct {
	Username string `json:"username" doc:"Name of the owner."`
	Slug     string `json:"slug" doc:"The deck's part of the address."`
	Probe    bool   `json:"probe" default:"false" doc:"Whether to say only that the caller may see the deck, without its fields."`
	Base     string `json:"base" default:"" doc:"Public address that stands in front of the addresses in the result."`
}

func (p viewDeckParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	missing := fault.NotFound.Errorf("deck %.60q of %.60q: does not exist", p.Slug, p.Username)
	asked := c.Tx
	c.Tx = asked.As(behind(c))
	defer func() { c.Tx = asked }()
	d, err := deckOf(c.Tx, p.Username, p.Slug)
	if err != nil || d == nil || d.IsTrashed() || !maySee(asked, d, c.As, p.Username) {
		return nil, cmp.Or[error](err, missing)
	}
	if p.Probe {
		return probed(d), nil
	}
	return view{Base: p.Base}.page(c, d, p.Username, fileKey(c, d))
}

// probed says that a deck is there.
func probed(d *storage.Doc) map[string]any {
	return map[string]any{"data": map[string]any{"id": number(d)}}
}

// maySee reports whether somebody may look at a deck. A guest may only see what is public.
func maySee(tx *storage.Tx, d *storage.Doc, as *storage.Principal, owner string) bool {
	if as.Name == owner {
		return true
	}
	if as.Name == storage.Guest().Name {
		return storage.Prop[string](d, "deck:visibility") == "all"
	}
	return tx.Can(d, looking)
}

// deckOf returns the deck of a user with a slug for a transaction that may see it, nil if there is none.
func deckOf(tx *storage.Tx, user, slug string) (*storage.Doc, error) {
	folder, err := homeOf(tx, user)
	if err != nil || folder == nil {
		return nil, err
	}
	return deckAt(tx, folder.ID(), slug)
}

// deckAt returns the deck with a slug in a folder, nil if there is none.
func deckAt(tx *storage.Tx, folder, slug string) (*storage.Doc, error) {
	docs, err := tx.Lookup("deck:place", folder+"/"+slug)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	return docs[0], nil
}

// page is a deck as its pages show it: all fields, the HTML and the owner. Speaker notes are
// the owner's alone. What files names opens the deck's pictures.
func (v view) page(c *engine.Ctx, d *storage.Doc, owner, files string) (map[string]any, error) {
	mine := c.As.Name == owner
	data := v.shape(c, owner, d, union, false)
	text, err := source(c.Tx, d)
	if err != nil {
		return nil, err
	}
	if !mine {
		text, data["notes"] = html.WithoutNotes(text), ""
	}
	data["html"], data["editable"], data["files_query"] = file.WithKey(text, files), mine, files
	if sheet, ok := data["css_output"].(string); ok {
		data["css_output"] = file.WithKey(sheet, files)
	}
	who, err := ownerOf(c, owner)
	if err != nil {
		return nil, err
	}
	data["owner"] = who
	tag := version(d) + "-page"
	if mine {
		tag += "-notes"
	}
	return map[string]any{"data": data, "etag": `"` + tag + `"`}, nil
}

// ownerOf describes who a deck belongs to.
func ownerOf(c *engine.Ctx, name string) (map[string]any, error) {
	u, err := c.Tx.User(name)
	if fault.Is(err, fault.NotFound) {
		return map[string]any{"id": int64(0), "name": name, "username": name}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"id": u.ID, "name": fullName(u), "username": u.Username}, nil
}
