package comment

import (
	"catena/engine"
	"catena/storage"
)

var remove = engine.Op{
	Name:     "Comment.Delete",
	Label:    "Delete Comment",
	Category: category,
	Doc:      "Deletes a comment on the input document with all its replies.",
	Callers:  engine.Anyone,
	Run:      engine.On(removeParams.run),
}

type removeParams subject

func (p removeParams) run(c *engine.Ctx, d *storage.Doc) (engine.Void, error) {
	found, err := subject(p).find(c, d)
	if err != nil {
		return engine.Void{}, err
	}
	if err := mine(c, found); err != nil {
		return engine.Void{}, err
	}
	// Fired before the deletion, while the comment can still be followed to its document.
	if err := tell(c, found, "commentRemoved"); err != nil {
		return engine.Void{}, err
	}
	return engine.Void{}, unlimited(c).Delete(found)
}
