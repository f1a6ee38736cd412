// Package property holds operations on a single property, file, facet or schema of a document. Changing several
// properties at once is package document's.
//
// The names and parameters are those of the platform's catalogue, which is why some operations overlap and
// why one flag has several names. Most operations change the document in memory and then save it unless save
// is false: a chain can so change several properties and save once, with one version, one audit record and
// one event.
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

// keep saves the document if asked to, and returns it as it then is. An unsaved document keeps its changes in
// memory for the next step of the chain; when the call ends without a save, they are lost.
func keep(c *engine.Ctx, d *storage.Doc, save bool) (*storage.Doc, error) {
	if !save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
