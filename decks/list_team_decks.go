package decks

import (
	"catena/engine"
	"catena/storage"
)

var listTeamDecks = engine.Op{
	Name: "Deck.ListTeam", Label: "List Team Decks", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the decks of the caller's team that are for the team or for everybody, the newest first. The caller has to " +
		"be the team's owner or admin.",
	Run: engine.On(listTeamDecksParams.run),
}

type listTeamDecksParams struct {
	paging
	view
}

func (p listTeamDecksParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.set()
	if err != nil {
		return nil, err
	}
	u, err := lead(c)
	if err != nil {
		return nil, err
	}
	docs, total, err := p.team(c.Tx.As(behind(c)), u.TeamID)
	if err != nil {
		return nil, err
	}
	data := make([]any, len(docs))
	for i, d := range docs {
		if data[i], err = p.teamRow(c, d, in, true); err != nil {
			return nil, err
		}
	}
	return p.answer(data, int(total)), nil
}

// teamRow is a deck with its owner.
func (v view) teamRow(c *engine.Ctx, d *storage.Doc, in revision, summary bool) (map[string]any, error) {
	name := ownerName(c.Tx, d)
	owner, err := ownerOf(c, name)
	if err != nil {
		return nil, err
	}
	row := v.shape(c, name, d, in, summary)
	row["visibility"], row["owner"] = storage.Prop[string](d, "deck:visibility"), owner
	return row, nil
}

var getTeamDeck = engine.Op{
	Name: "Deck.GetTeam", Label: "Get Team Deck", Category: category, Effect: engine.Reads,
	Doc: "Returns one of the decks of the caller's team that are for the team or for everybody. The caller has to be the team's owner or admin.",
	Run: engine.On(getTeamDeckParams.run),
}

type getTeamDeckParams struct {
	ID   int64 `json:"id" doc:"Number of the deck."`
	HTML bool  `json:"include_deck_html" alias:"includeHtml" default:"false" doc:"Whether revision A's result has the HTML of the deck; B's always has."`
	view
}

func (p getTeamDeckParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	u, err := lead(c)
	if err != nil {
		return nil, err
	}
	d, err := teamDeck(c.Tx.As(behind(c)), u.TeamID, p.ID)
	if err != nil {
		return nil, err
	}
	owner := ownerName(c.Tx, d)
	out, err := p.resultOf(c, owner, d, p.HTML, nil)
	if err != nil {
		return nil, err
	}
	who, err := ownerOf(c, owner)
	out["data"].(map[string]any)["owner"] = who
	return out, err
}
