// Package resource holds operations that addresses of the REST interface need beyond the catalogue: documents as
// request bodies, paged lists, files and permissions of a document, business objects, declarations of types, and the
// current user. Each does one thing a route names; how a request says it is the entry point's business.
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
