// Package repository holds operations on the whole repository: finding a document by its path or id, queries, page
// providers, and what administrators need: query plans and checks. Page providers are declared in YAML, built-in ones
// and texts of a server's own; how a query finds its results is storage's business.
package repository

import (
	"catena/engine"
)

// Ops returns the repository operations with the page providers that a function returns; nil: the built-in ones.
func Ops(ps func() *Providers) []engine.Op {
	if ps == nil {
		ps = builtin
	}
	return []engine.Op{
		automaticIndexes,
		dropIndex,
		explain,
		getDocument,
		pageProvider(ps),
		queryDocs,
		readProvider(ps),
		repositories,
		resultSetPageProvider(ps),
		resultSetQuery,
		saveSession,
		slowQueries,
		verify,
	}
}
