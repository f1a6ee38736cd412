package decks

import (
	"strings"

	"catena/engine"
)

var get = engine.Op{
	Name: "Deck.Get", Label: "Get Deck", Category: category, Effect: engine.Reads,
	Doc: "Returns one of the caller's decks with all its fields.",
	Run: engine.On(getParams.run),
}

type getParams struct {
	ID     int64  `json:"id" doc:"Number of the deck."`
	HTML   bool   `json:"include_deck_html" alias:"includeHtml" default:"false" doc:"Whether revision A's result has the HTML of the deck; B's always has."`
	Unless string `json:"ifNoneMatch" default:"" doc:"Entity tags; if the deck's is among them, the result has no data."`
	view
}

func (p getParams) run(c *engine.Ctx, _ engine.Void) (map[string]any, error) {
	d, err := find(c, p.ID, false)
	if err != nil {
		return nil, err
	}
	in, err := p.set()
	if err != nil {
		return nil, err
	}
	if tag := tagOf(d, in, p.HTML); hasTag(p.Unless, tag) {
		return map[string]any{"data": nil, "etag": tag}, nil
	}
	return p.result(c, d, p.HTML, nil)
}

// hasTag reports whether an entity tag is among those of a list.
func hasTag(tags, tag string) bool {
	for item := range strings.SplitSeq(tags, ",") {
		if item = strings.TrimPrefix(strings.TrimSpace(item), "W/"); item == "*" || item == tag {
			return true
		}
	}
	return false
}
