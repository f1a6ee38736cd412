package team

import (
	"catena/decks/deck"
	"catena/decks/field"
	"catena/decks/listing"
	"catena/engine"
	"catena/storage"
)

var listTeamDecks = engine.Op{
	Name: "Deck.ListTeam", Label: "List Team Decks", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc: "Returns a page of the decks of the caller's team that are visible to the team or to everybody, newest first. The caller must " +
		"be the team's owner or an admin.",
	Run: engine.On(listTeamDecksParams.run),
}

type listTeamDecksParams struct {
	deck.Paging
	deck.View
}

func (p listTeamDecksParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.Set()
	if err != nil {
		return nil, err
	}
	u, err := lead(c)
	if err != nil {
		return nil, err
	}
	// The decks are in folders that only their owners may read. lead has
	// checked the role, which stands for the permission here.
	docs, total, err := listing.TeamPage(p.Paging, c.Tx.As(deck.Behind(c)), u.TeamID)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		if data[i], err = teamRow(c, p.View, d, in, true); err != nil {
			return nil, err
		}
	}
	return p.Answer(data, int(total)), nil
}

// teamRow is a deck with its owner.
func teamRow(c *engine.Ctx, v deck.View, d *storage.Doc, in field.Revision, summary bool) (map[string]any, error) {
	name := deck.OwnerName(c.Tx, d)
	owner, err := deck.OwnerOf(c, name)
	if err != nil {
		return nil, err
	}
	row := v.Shape(c, name, d, in, summary)
	row["visibility"], row["owner"] = storage.Prop[string](d, "deck:visibility"), owner
	return row, nil
}

var getTeamDeck = engine.Op{
	Name: "Deck.GetTeam", Label: "Get Team Deck", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns one of the decks of the caller's team that are visible to the team or to everybody. The caller must be the team's owner or an admin.",
	Run:     engine.On(getTeamDeckParams.run),
}

type getTeamDeckParams struct {
	ID   int64 `json:"id" doc:"Number of the deck."`
	HTML bool  `json:"include_deck_html" alias:"includeHtml" default:"false" doc:"Whether revision A's result has the HTML of the deck; B's always has."`
	deck.View
}

func (p getTeamDeckParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	u, err := lead(c)
	if err != nil {
		return nil, err
	}
	// Only the team's list is looked at, so the private deck of a member is as absent as one of another team.
	d, err := listing.TeamDeck(c.Tx.As(deck.Behind(c)), u.TeamID, p.ID)
	if err != nil {
		return nil, err
	}
	owner := deck.OwnerName(c.Tx, d)
	out, err := p.ResultOf(c, owner, d, p.HTML)
	if err != nil {
		return nil, err
	}
	// The owner is what the team's detail has beyond that of the caller's own decks.
	who, err := deck.OwnerOf(c, owner)
	out["data"].(map[string]any)["owner"] = who
	return out, err
}
