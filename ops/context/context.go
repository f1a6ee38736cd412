// Package context holds operations on the context of a run: its input, its variables and its four stacks. They change
// nothing in the repository. What runs other operations is package control's; what workflows add to a context is
// theirs.
//
// A context belongs to one call. Chains use it to set something aside and to find it again some steps later:
// a variable by name, or one of four stacks (documents, lists of documents, files, lists of files), which are
// read from either end. A document on a stack is as it was then.
package context

import (
	"catena/engine"
)

// Ops are the context operations.
var Ops = []engine.Op{
	emailsOf,
	fetchDocument,
	fetchFile,
	granteesOn,
	popBlob,
	popBlobs,
	popDocument,
	popDocuments,
	pullBlob,
	pullBlobs,
	pullDocument,
	pullDocuments,
	pushBlob,
	pushBlobs,
	pushDocument,
	pushDocuments,
	readMetadata,
	restoreBlob,
	restoreBlobFromScript,
	restoreBlobs,
	restoreBlobsFromScript,
	restoreDocument,
	restoreDocumentFromScript,
	restoreDocuments,
	restoreDocumentsFromScript,
	setInputAsVar,
	setMetadata,
	setMetadataFromBlob,
	setVar,
}

// none are the parameters of operations that have none.
type none struct{}
