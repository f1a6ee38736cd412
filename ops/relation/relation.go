// Package relation holds operations that relate documents to each other by statements of a subject, a predicate and
// an object. How they are kept, and who may make them, is storage's.
//
// A relation ends when either of its documents is erased.
package relation

import (
	"catena/engine"
	"catena/storage"
)

// Ops are the relation operations.
var Ops = []engine.Op{
	addRelation,
	deleteRelation,
	getLinked,
}

// defaultGraphs are the names of the one graph there is.
var defaultGraphs = []string{"", "default"}

// ends returns subject and object of the relation between the input and another document.
func ends(c *engine.Ctx, d *storage.Doc, ref storage.Ref, outgoing bool) (subject, object *storage.Doc, err error) {
	other, err := engine.Named(c.Tx.DocFrom(d, ref))
	if err != nil {
		return nil, nil, err
	}
	if outgoing {
		return d, other, nil
	}
	return other, d, nil
}
