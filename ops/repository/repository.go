// Package repository holds operations on the whole repository: finding a document by its path or id, queries, page
// providers, and what administrators need: query plans and checks. Page providers are declared in YAML, built-in ones
// and those of a folder of files; how a query finds its results is storage's business.
package repository

import (
	"catena/engine"
)

// Ops returns the repository operations with the page providers given; nil: the built-in ones.
func Ops(providers *Providers) []engine.Op {
	if providers == nil {
		providers = builtin()
	}
	return []engine.Op{
		explain,
		getDocument,
		pageProvider(providers),
		queryDocs,
		readProvider(providers),
		repositories,
		resultSetPageProvider(providers),
		resultSetQuery,
		saveSession,
		slowQueries,
		verify,
	}
}
