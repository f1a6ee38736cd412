package listing

import (
	"cmp"
	"strings"

	"catena/decks/deck"
	"catena/decks/field"
	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

var browse = engine.Op{
	Name: "Deck.Browse", Label: "Browse Decks", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns a page of a user's decks as cards for an overview page, newest first: all of the caller's own decks, or the public " +
		"decks of another user. It fails if that user has no public decks. Member more of meta says whether there are more.",
	Run: engine.On(browseParams.run),
}

type browseParams struct {
	Username string `json:"username" default:"" doc:"Owner of the decks; empty for all of the caller's own, including private ones."`
	Words    string `json:"words" default:"" doc:"Words that the title, the description or the slides must contain."`
	Trashed  bool   `json:"trashed" default:"false" doc:"Whether to return the caller's decks in the trash instead."`
	Base     string `json:"base" default:"" doc:"Public address of the server, used as prefix of the addresses in the result."`
	deck.Paging
}

func (p browseParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	owner := cmp.Or(p.Username, c.As.Name)
	tx := c.Tx.As(deck.Behind(c))
	folder, err := deck.HomeOf(tx, owner)
	if err != nil {
		return nil, err
	}
	data := []any{}
	more := false
	if folder != nil {
		var docs storage.Docs
		if docs, more, err = p.find(tx, folder.ID()); err != nil {
			return nil, err
		}
		for _, d := range docs {
			data = append(data, p.card(c, owner, d))
		}
	}
	if p.Username != "" && len(data) == 0 {
		return nil, fault.NotFound.Errorf("user %.60q: has no such public decks", owner)
	}
	who, err := deck.OwnerOf(c, owner)
	if err != nil {
		return nil, err
	}
	return map[string]any{"data": data, "owner": who, "meta": map[string]any{"page": p.Page, "per_page": p.PerPage, "more": more}}, nil
}

// find returns the page and whether there is another.
func (p browseParams) find(tx *storage.Tx, folder string) (docs storage.Docs, more bool, err error) {
	by := byListing
	switch {
	case p.Username != "":
		by = "deck:public"
	case p.Trashed:
		by = byBinned
	}
	query := "SELECT * FROM Deck WHERE " + by + " >= ? AND " + by + " < ?" + deck.Live
	below, offset := folder+"0", p.Offset()
	total, err := counted(tx, folder)
	if err != nil {
		return nil, false, err
	}
	l := List{by, folder}
	// No query can match more decks than the folder has, so an absurd page number is answered without a walk.
	if offset >= max(total.Active, total.Trashed) {
		return nil, false, nil
	}
	// Blocks count whole lists. A search, or the public decks alone, can only be walked from the first.
	if p.Words == "" && p.Username == "" {
		if below, offset, err = l.Seek(tx, l.of(total), offset); err != nil {
			return nil, false, err
		}
	}
	args := []any{folder + "/", below}
	if text := phrase(p.Words); text != "" {
		query += " AND ecm:fulltext = ?"
		args = append(args, text)
	}
	page, err := search.Query(tx, query+" ORDER BY "+by+" DESC", search.Options{Args: args, PageOptions: storage.PageOptions{
		// One deck more than the page shows tells whether there is a next page, without counting all of them.
		Offset: int(offset), Limit: int(p.PerPage) + 1, CountLimit: -1,
	}})
	if err != nil {
		return nil, false, err
	}
	if docs = page.Docs; len(docs) > int(p.PerPage) {
		return docs[:p.PerPage], true, nil
	}
	return docs, false, nil
}

// phrase makes a search of what somebody typed: all words, the last perhaps not yet whole.
func phrase(text string) string {
	list := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\"'*+-(){}[]:;,?!~^&|\\/%", r) })
	if len(list) == 0 {
		return ""
	}
	// Ten words bound the cost of the query; the characters above are those that its syntax would interpret.
	return strings.Join(list[:min(len(list), 10)], " ") + "*"
}

// card is a deck as a page of many shows it.
func (p browseParams) card(c *engine.Ctx, owner string, d *storage.Doc) map[string]any {
	v := deck.View{Base: p.Base}
	out := map[string]any{"trashed_at": deck.InstantOf(d, "deck:trashed_at")}
	for i := range field.Fields {
		if f := &field.Fields[i]; f.Card {
			out[f.Name] = v.Value(c, f, owner, d)
		}
	}
	return out
}
