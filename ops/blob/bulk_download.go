package blob

import (
	"catena/engine"
	"catena/storage"
)

var bulkDownload = engine.Op{
	Name:     "Blob.BulkDownload",
	Label:    "Bulk Download",
	Category: "Files",
	Doc:      "Packs the main files of documents into one archive and returns it. Documents without a file are left out.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(bulkDownloadParams.run),
}

type bulkDownloadParams struct {
	Filename string `json:"filename,omitzero" doc:"Name of the archive; documents.zip by default."`
}

func (p bulkDownloadParams) run(c *engine.Ctx, docs storage.Docs) (*storage.Blob, error) {
	var files storage.Blobs
	// The documents are the input and were read as the caller. The archive bounds how many files it
	// takes (maxEntries).
	for _, d := range docs {
		b, err := d.MainBlob()
		if err != nil {
			return nil, err
		}
		if b != nil {
			files = append(files, b)
		}
	}
	if p.Filename == "" {
		p.Filename = "documents.zip"
	}
	return createZipParams(p).blobs(c, files)
}
