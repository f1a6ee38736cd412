// Package data holds operations that read and write exchange formats: tables, lists of JSON, and plain text. Records
// of documents are loaded by bulk loads, which need no memory for the whole of a file.
package data

import (
	"catena/engine"
	"catena/engine/spreadsheet"
)

// Ops returns the operations. Workers that read spreadsheets are started by a command line; without one they are read in
// this process.
func Ops(worker []string) []engine.Op {
	return []engine.Op{
		fromText,
		hash,
		reader{spreadsheet.NewReader(worker)}.op(),
		selects,
		value,
		write,
	}
}

const (
	maxFile = 20 << 20 // bytes of a file that is read or written as a whole
	maxRows = 100_000
)
