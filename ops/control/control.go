// Package control holds operations that run other operations and chains on the input, on each item of a list, or on
// each page of a query. All runs share the call's one transaction, except those that ask for a new one, whose effects
// stay when the call fails (see engine.Ctx.Apart).
package control

import (
	"catena/engine"
)

// Ops are the operations of control.
var Ops = []engine.Op{
	runDocumentOperation,
	runDocumentOperationInNewTx,
	runFileOperation,
	runOperation,
	runOperationOnList,
	runOperationOnListInNewTx,
	runOperationOnProvider,
}
