// Package ops is the table of the operation families and of who may call them. Each family
// is a package below it; adding one is a line here. The deck family stands beside it in
// package decks.
package ops

import (
	"catena/engine"
	"catena/ops/blob"
	"catena/ops/document"
	"catena/ops/resource"
)

// All are the operations of every family.
var All = [][]engine.Op{
	blob.Ops,
	document.Ops,
	resource.Ops,
}
