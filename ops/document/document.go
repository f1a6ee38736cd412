// Package document holds operations on a document as a whole: creating, reading, updating, moving and deleting it,
// its lock, its life cycle and its permissions. Single properties and files are package property's; versions,
// proxies, relations and collections are families of their own; the rules behind every change (who may do it, what it
// fires) are storage's.
//
// A file holds one operation and is named after it. The lists below are in the order of the alphabet, so that
// two changes seldom touch the same line. Operations are called for each document of a list (engine.Each), so
// that every one of them also works on the result of a query.
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
	diff,
	emptyTrash,
	export,
	failValidation,
	fetchByProperty,
	filter,
	followTransition,
	getChild,
	getChildren,
	getParent,
	hold,
	lock,
	makeRecord,
	move,
	order,
	reload,
	removeACL,
	removePermission,
	replacePermission,
	retain,
	saveDoc,
	trash,
	unblockInheritance,
	unhold,
	unlock,
	untrash,
	update,
}
