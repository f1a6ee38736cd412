// Package property holds the operations on a single property, file, facet or schema of a
// document. Changing several properties at once is package document's.
package property

import (
	"catena/engine"
	"catena/storage"
)

// Ops are the property operations.
var Ops = []engine.Op{
	addComplexItem,
	addFacet,
	addItem,
	copySchema,
	getBlob,
	getBlobs,
	getBlobsByProperty,
	removeEntry,
	removeFacet,
	removeItem,
	removeProperty,
	resetSchema,
	setBlob,
	setBlobName,
	setMetadata,
	setProperty,
	writeMetadata,
}

// keep saves the document if asked to, and returns it as it then is.
func keep(c *engine.Ctx, d *storage.Doc, save bool) (*storage.Doc, error) {
	if !save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
