package collection

import (
	"slices"

	"catena/engine"
	"catena/storage"
)

var moveMember = engine.Op{
	Name:     "Document.MoveCollectionMember",
	Label:    "Reorder members of a collection",
	Category: "Document",
	Doc:      "Moves a member of the input collection after another one, or to the beginning, and returns whether anything moved.",
	Callers:  engine.Anyone,
	Run:      engine.On(moveParams.run),
}

type moveParams struct {
	Member storage.Ref `json:"member1" doc:"Path or id of the member to move."`
	After  storage.Ref `json:"member2,omitzero" doc:"Member to place it after; without it, the member moves to the beginning."`
}

func (p moveParams) run(c *engine.Ctx, d *storage.Doc) (bool, error) {
	collection, err := open(c, d.Ref())
	if err != nil {
		return false, err
	}
	list := ids(collection, members)
	from, err := position(c, list, p.Member)
	// A document that is not a member moves nothing: the answer is false, not an error.
	if err != nil || from < 0 {
		return false, err
	}
	id := list[from]
	list = slices.Delete(slices.Clone(list), from, from+1)
	// Positions are those after the member was taken out, so the result is the same from whichever
	// side it moves.
	to := 0
	if p.After != "" {
		after, err := position(c, list, p.After)
		if err != nil || after < 0 {
			return false, err
		}
		to = after + 1
	}
	if to == from {
		return false, nil
	}
	return true, put(c, collection, members, slices.Insert(list, to, id))
}

// position finds a document in a list of ids; -1 if it is not there.
func position(c *engine.Ctx, list []string, ref storage.Ref) (int, error) {
	d, err := engine.Named(c.Tx.Doc(ref))
	if err != nil {
		return -1, err
	}
	return slices.Index(list, d.ID()), nil
}
