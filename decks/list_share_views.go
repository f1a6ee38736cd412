package decks

import (
	"cmp"
	"encoding/json"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var listShareViews = engine.Op{
	Name: "Deck.ListShareViews", Label: "List Share Link Views", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the latest views of one of the caller's decks through a private link, the last first. The latest thousand are kept.",
	Run: engine.On(listShareViewsParams.run),
}

type listShareViewsParams struct {
	Deck int64 `json:"deck_id" doc:"Number of the deck."`
	ID   int64 `json:"id" doc:"Number of the link."`
	paging
}

func (p listShareViewsParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	if err := mayLink(c); err != nil {
		return nil, err
	}
	d, err := find(c, p.Deck, false)
	if err != nil {
		return nil, err
	}
	prefix := linkKey(d.ID(), p.ID)
	var l link
	if ok, err := c.Tx.Table(linkTable).Get(prefix, &l); err != nil || !ok {
		return nil, cmp.Or[error](err, fault.NotFound.Errorf("share link %d of deck %d: does not exist", p.ID, p.Deck))
	}
	return p.rows(c.Tx.Table(viewTable), prefix+"/", keptViews, func(raw json.RawMessage) (any, error) {
		row, err := readRow[viewRow](raw)
		return map[string]any{"viewed_at": stamp(row.At), "user_agent": row.Agent, "referrer": row.Referrer}, err
	})
}

var listNotices = engine.Op{
	Name: "Deck.ListNotices", Label: "List Deck Notices", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of what the caller was told about share links: each was viewed for the first time. The last is first, a thousand are kept.",
	Run: engine.On(listNoticesParams.run),
}

type listNoticesParams struct{ paging }

func (p listNoticesParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	return p.rows(c.Tx.Table(noticeTable), noticePrefix(c.As.Name), keptNotices, func(raw json.RawMessage) (any, error) {
		n, err := readRow[notice](raw)
		return map[string]any{
			"id": n.ID, "event": n.Event, "deck_id": n.Deck, "share_link_id": n.Link, "title": n.Title, "name": n.Name, "created_at": stamp(n.At),
		}, err
	})
}

// rows returns a page of at most limit rows of a table below a prefix, the last first.
func (p paging) rows(table storage.Table, prefix string, limit int, shape func(json.RawMessage) (any, error)) (map[string]any, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	data, total := []any{}, 0
	from := int((p.Page - 1) * p.PerPage)
	for _, raw := range table.Scan(prefix, prefix+"~", true, limit) {
		if total++; total <= from || len(data) >= int(p.PerPage) {
			continue
		}
		row, err := shape(raw)
		if err != nil {
			return nil, fault.Internal.Errorf("row: %w", err)
		}
		data = append(data, row)
	}
	return p.answer(data, total), nil
}
