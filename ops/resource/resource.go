// Package resource holds the operations that addresses of the REST interface need beyond
// the catalogue: documents as the bodies of requests, lists by page, files and permissions
// of a document, business objects, the declarations of types, and who is signed in. Each
// does one thing a route names; how a request says it is the entry point's business.
//
// Their names are not part of the platform's catalogue, and clients see them only in descriptions of this
// server. They exist because every address runs an operation: so permissions, traces, dry runs and
// idempotency keys work the same way for all addresses.
package resource

import (
	"catena/engine"
)

// Ops are the operations behind addresses.
var Ops = []engine.Op{
	beanCreate,
	beanFetch,
	beanUpdate,
	businessCreate,
	businessRead,
	businessWrite,
	configFacet,
	configFacets,
	configSchema,
	configSchemas,
	configType,
	configTypes,
	login,
	acl,
	audit,
	auditTable,
	fileAt,
	children,
	create,
	downloaded,
	remove,
	empty,
	query,
	removeFile,
	searchDocs,
	setFile,
	update,
	me,
	readUser,
}
