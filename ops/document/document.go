// Package document holds the operations on one document as a whole: creating, reading,
// updating, moving and deleting it, its lock, its life cycle and its permissions. Single
// properties and files are package property's; versions, proxies, relations and collections
// are families of their own; the rules behind every change (who may do it, what it fires)
// are storage's.
package document

import "catena/engine"

// Ops are the document operations.
var Ops = []engine.Op{
	addACE,
	addPermission,
	blockInheritance,
	copyDoc,
	create,
	deleteDoc,
	emptyTrash,
	export,
	fetchByProperty,
	filter,
	followTransition,
	getChild,
	getChildren,
	getParent,
	lock,
	move,
	order,
	reload,
	removeACL,
	removePermission,
	replacePermission,
	saveDoc,
	trash,
	unblockInheritance,
	unlock,
	untrash,
	update,
}
