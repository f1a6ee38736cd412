// Package document holds the operations on one document at a time: making, reading,
// changing, moving and removing it, its files, its lock, its life cycle and its
// permissions. Versions, proxies, relations and collections are families of their own;
// the rules behind every change (who may do it, what it fires) are storage's.
package document

import (
	"catena/engine"
	"catena/storage"
)

// Ops are the document operations.
var Ops = []engine.Op{
	addACE,
	addComplexItem,
	addFacet,
	addItem,
	addPermission,
	blockInheritance,
	copyDoc,
	copySchema,
	create,
	deleteDoc,
	emptyTrash,
	export,
	fetchByProperty,
	filter,
	followTransition,
	getBlob,
	getBlobs,
	getBlobsByProperty,
	getChild,
	getChildren,
	getParent,
	lock,
	move,
	order,
	reload,
	removeACL,
	removeEntry,
	removeFacet,
	removeItem,
	removePermission,
	removeProperty,
	replacePermission,
	resetSchema,
	saveDoc,
	setBlob,
	setBlobName,
	setMetadata,
	setProperty,
	trash,
	unblockInheritance,
	unlock,
	untrash,
	update,
	writeMetadata,
}

// keep saves the document if asked to, and returns it as it then is.
func keep(c *engine.Ctx, d *storage.Doc, save bool) (*storage.Doc, error) {
	if !save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
