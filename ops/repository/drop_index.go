package repository

import (
	"catena/engine"
	"catena/storage/search"
)

var dropIndex = engine.Op{
	Name:     "Repository.DropIndex",
	Label:    "Drop Automatic Index",
	Category: "Services",
	Doc:      "Drops an index that the server has declared by itself: no query uses it any longer, and its rows are removed in the background. The server declares it again if queries go on asking for it; a negative limit-automatic-indexes prevents that.",
	Callers:  engine.Admins,
	Run:      engine.On(dropIndexParams.run),
}

type dropIndexParams struct {
	ID string `json:"id" doc:"Identifier of the index, as Repository.AutomaticIndexes lists it."`
}

func (p dropIndexParams) run(c *engine.Ctx, _ engine.Void) (engine.Void, error) {
	return engine.Void{}, search.DropIndex(c.Tx, p.ID)
}
