// Package control holds operations that run other operations and chains on the input, on each item of a list, or on
// each page of a query. All runs share the call's one transaction: what asks for "a new transaction" gets a
// savepoint, so that a failed inner run leaves nothing behind while the call as a whole is still either done or not
// done.
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
