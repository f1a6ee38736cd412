// Package data holds operations that read and write exchange formats: tables, lists of JSON, and plain text. Records
// of documents are loaded by bulk loads, which need no memory for the whole of a file.
package data

import "catena/engine"

// Ops are the operations.
var Ops = []engine.Op{
	fromText,
	hash,
	read,
	write,
}

const (
	maxFile = 20 << 20 // bytes of a file that is read or written as a whole
	maxRows = 100_000
)
