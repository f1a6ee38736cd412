package comment

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
)

var read = engine.Op{
	Name:     "Comment.Read",
	Label:    "Read Comment",
	Category: category,
	Doc:      "Returns one of the comments on the input document, found by its id or by its id in another system.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Comment"),
	Run:      engine.On(readParams.run),
}

type readParams subject

func (p readParams) run(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	found, err := subject(p).find(c, d)
	if err != nil {
		return nil, err
	}
	return entity(c, found, p.Summary)
}
