// Package blob holds the operations on files: putting them on documents and taking them
// off, packing and joining them, and making documents of them. Content is addressed and
// kept by storage; an operation only names what goes where.
package blob

import (
	"slices"

	"catena/engine"
	"catena/storage"
)

// Ops are the file operations; those that reach outside as a server without configuration has them.
var Ops = slices.Concat([]engine.Op{
	attach,
	attachCurrent,
	attachFiles,
	bulkDownload,
	concatenatePDFs,
	containerRendition,
	createAtHome,
	createFolder,
	createZip,
	importClipboard,
	importFile,
	importInSeam,
	importWithMetaData,
	importWithMetaDataInSeam,
	importWithProperties,
	importWorklist,
	remove,
	versionAndAttachFile,
	versionAndAttachFiles,
}, OpsWith(Outside{}))

// keep saves the document if asked to, and returns it as it then is.
func keep(c *engine.Ctx, d *storage.Doc, save bool) (*storage.Doc, error) {
	if !save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
