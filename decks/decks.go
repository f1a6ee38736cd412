// Package decks keeps presentations: documents of type Deck, each with a number, in a folder per user that only its
// owner sees. Every rule of the deck service is here: whose a deck is, what may be written, which HTML is harmless,
// what each revision of the service calls a field. Results are maps with data, meta and etag, as the service's
// answers have them; addresses, headers and statuses are left to the entry points.
//
// The addresses of the service are rows of decks/route, the fields of a deck rows of decks/field: decoding,
// validation, both revisions of the answers, the OpenAPI description and the MCP tools derive from these two
// tables. A deck's HTML goes through decks/html before it is stored, so what is stored is harmless. Its pages
// are shown in a sandbox nevertheless.
//
// The operations of this package create, read, list, change, delete and restore decks. The packages below it
// have one part of the service each, and what several of them need is in decks/deck. Listen connects all of
// it with the repository: decks follow what happens to their documents, regardless of who changes them.
package decks

import (
	"slices"
	"sync"

	"catena/decks/export"
	"catena/decks/field"
	"catena/decks/listing"
	"catena/decks/share"
	"catena/decks/slide"
	"catena/decks/team"
	"catena/engine"
)

// Ops are the operations of the deck service, which are put together once: not every process needs them.
var Ops = sync.OnceValue(func() []engine.Op { return OpsFor(field.Fields) })

// OpsFor returns the operations for decks with the fields of a table.
func OpsFor(t field.Table) []engine.Op {
	return typed(slices.Concat(own(t), export.Ops, listing.Ops, share.Ops, slide.Ops, team.Ops))
}

// own are the operations on one deck as a whole.
func own(t field.Table) []engine.Op {
	return []engine.Op{
		account,
		addFile,
		create(t),
		get,
		history,
		importDeck,
		keepVersion,
		listFiles,
		openAPI,
		openFile,
		recoverDeck,
		removeFile,
		restore,
		thumbnail,
		trash,
		update(t),
		viewDeck,
	}
}
