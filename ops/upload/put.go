package upload

import (
	"cmp"
	"strconv"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/upload"
)

var put = engine.Op{
	Name:     "Upload.Put",
	Label:    "Upload",
	Category: "Upload",
	Doc: "Adds a file, or a chunk of one, to a batch. Chunks may arrive in any order; the last missing one completes the file. " +
		"A chunk that was already received is refused; a file without chunks replaces the one with its number.",
	Callers: engine.Anyone,
	Result:  openapi.Ref("UploadedFile"),
	Run:     engine.On(putParams.run).As("blob", "map"),
}

type putParams struct {
	Batch string `json:"batch" doc:"Id of the batch."`
	Index int    `json:"fileIdx" doc:"Number of the file in the batch."`
	Name  string `json:"name,omitzero" doc:"Name of the file; by default the input's."`
	Type  string `json:"type,omitzero" doc:"Type of the file; by default detected from name and content."`
	Chunk int    `json:"chunkIndex" default:"0" doc:"Index of the chunk, starting at 0."`
	Count int    `json:"chunkCount" default:"0" doc:"Number of chunks; 0 for a file without chunks."`
	Whole int64  `json:"fileSize" default:"0" doc:"Size in bytes of the whole file, if it is sent in chunks; shown as its size until it is complete."`
}

func (p putParams) run(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	// A count of 0 means a file that is sent whole; the number of the chunk is ignored then.
	part := upload.Part{
		Index: p.Index, Name: cmp.Or(p.Name, b.Name), Type: p.Type,
		Chunked: p.Count != 0, Chunk: p.Chunk, Count: p.Count, Whole: p.Whole,
	}
	u, err := upload.Put(c.Tx, p.Batch, part, b)
	if err != nil {
		return nil, err
	}
	m := map[string]any{
		// Numbers and truth values are texts in this answer, as in the platform's; its client
		// parses them.
		"uploaded": "true", "batchId": p.Batch, "fileIdx": strconv.Itoa(p.Index), "uploadType": kind(u),
		"uploadedSize": strconv.FormatInt(b.Size, 10),
	}
	if u.Chunked {
		chunked(m, u)
	}
	return m, nil
}
