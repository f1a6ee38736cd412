package share

import (
	"cmp"
	"encoding/json"

	"catena/decks/deck"
	"catena/engine"
	"catena/storage/fault"
)

var listShareViews = engine.Op{
	Name: "Deck.ListShareViews", Label: "List Share Link Views", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a page of the latest views of one of the caller's decks through a private link, latest first. The last 1,000 are kept.",
	Run:     engine.On(listShareViewsParams.run),
}

type listShareViewsParams struct {
	Deck int64 `json:"deck_id" doc:"Number of the deck."`
	ID   int64 `json:"id" doc:"Number of the link."`
	deck.Paging
}

func (p listShareViewsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := deck.Find(c, p.Deck, false)
	if err != nil {
		return nil, err
	}
	prefix := linkKey(d.ID(), p.ID)
	var l link
	if ok, err := c.Tx.Table(linkTable).Get(prefix, &l); err != nil || !ok {
		return nil, cmp.Or[error](err, fault.NotFound.Errorf("share link %d of deck %d: does not exist", p.ID, p.Deck))
	}
	return p.Rows(c.Tx.Table(viewTable), prefix+"/", keptViews, func(raw json.RawMessage) (any, error) {
		row, err := deck.ReadRow[viewRow](raw)
		return map[string]any{"viewed_at": deck.Stamp(row.At), "user_agent": row.Agent, "referrer": row.Referrer}, err
	})
}

var listNotices = engine.Op{
	Name: "Deck.ListNotices", Label: "List Deck Notices", Category: deck.Category, Effect: engine.Reads,
	Callers: engine.Anyone,
	Doc:     "Returns a page of the caller's notices about share links that were viewed for the first time, latest first. The last 1,000 are kept.",
	Run:     engine.On(listNoticesParams.run),
}

type listNoticesParams struct{ deck.Paging }

func (p listNoticesParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.Rows(c.Tx.Table(noticeTable), noticePrefix(c.As.Name), keptNotices, func(raw json.RawMessage) (any, error) {
		n, err := deck.ReadRow[notice](raw)
		return map[string]any{
			"id": n.ID, "event": n.Event, "deck_id": n.Deck, "share_link_id": n.Link, "title": n.Title, "name": n.Name, "created_at": deck.Stamp(n.At),
		}, err
	})
}
