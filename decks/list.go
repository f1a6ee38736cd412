package decks

import (
	"catena/engine"
	"catena/storage"
)

var list = engine.Op{
	Name: "Deck.List", Label: "List Decks", Category: category, Effect: engine.Reads,
	Doc: "Returns a page of the caller's decks as summaries, the newest first.",
	Run: engine.On(listParams.run),
}

const (
	maxPerPage = 100
	maxTotal   = 100_000
)

type listParams struct {
	Page    int64 `json:"page" default:"1" min:"1" doc:"Number of the page, from 1."`
	PerPage int64 `json:"per_page" alias:"perPage" default:"20" min:"1" max:"100" doc:"Decks a page, 1 to 100."`
	view
}

func (p listParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	in, err := p.set()
	switch {
	case err != nil:
		return nil, err
	case p.Page < 1 || p.Page > maxTotal:
		return nil, invalid("page", "out_of_range", "page: %d is not from 1 to %d", p.Page, maxTotal)
	case p.PerPage < 1 || p.PerPage > maxPerPage:
		return nil, invalid("per_page", "out_of_range", "per_page: %d is not from 1 to %d", p.PerPage, maxPerPage)
	}
	folder, err := home(c, false)
	if err != nil {
		return nil, err
	}
	data, total := []any{}, 0
	if folder != nil {
		page, err := c.Tx.Query(live+" AND ecm:isTrashed = 0 AND deck:number > 0 ORDER BY deck:number DESC", storage.QueryOptions{
			Args: []any{folder.ID()},
			PageOptions: storage.PageOptions{
				Offset: int((p.Page - 1) * p.PerPage), Limit: int(p.PerPage), CountLimit: maxTotal,
			},
		})
		if err != nil {
			return nil, err
		}
		total = page.Total
		for _, d := range page.Docs {
			data = append(data, p.shape(c.As.Name, d, in, true))
		}
	}
	return map[string]any{
		"data": data,
		"meta": map[string]any{"page": p.Page, "per_page": p.PerPage, "total": int64(total)},
	}, nil
}
