// Package blob holds operations on files: attaching them to documents and removing them, packing and joining them,
// and creating documents from them. Content is addressed and kept by storage; an operation only names what goes
// where.
//
// Operations that reach beyond the repository (Outside) do so in one of two ways. What is fetched is fetched
// during the call, through engine/egress, which decides which hosts may be reached. What is sent or exported
// is a job that runs after the commit: neither a request nor a file outside can be undone if the transaction
// fails. The content is staged for the job (hold.Stage), so that it exists until the job has run even if no
// document refers to it.
package blob

import (
	"catena/engine"
	"catena/engine/egress"
	"catena/storage"
)

// Ops returns the file operations, with what they may reach outside.
func Ops(o Outside) []engine.Op {
	if o.Client == nil {
		o.Client, _ = egress.New(egress.Config{}) // nothing to refuse
	}
	return []engine.Op{
		attach,
		attachCurrent,
		attachFiles,
		bulkDownload,
		concatenatePDFs,
		containerRendition,
		createAtHome,
		createFolder,
		createFromURL(o.Client),
		createZip,
		exportToFS(o.Folder),
		importClipboard,
		importFile,
		importInSeam,
		importWithMetaData,
		importWithMetaDataInSeam,
		importWithProperties,
		importWorklist,
		postToURL,
		remove,
		versionAndAttachFile,
		versionAndAttachFiles,
	}
}

// keep saves the document if asked to, and returns it as it then is.
func keep(c *engine.Ctx, d *storage.Doc, save bool) (*storage.Doc, error) {
	if !save {
		return d, nil
	}
	return c.Tx.Save(d, storage.SaveOptions{})
}
