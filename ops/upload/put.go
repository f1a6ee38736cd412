package upload

import (
	"cmp"
	"strconv"

	"catena/engine"
	"catena/storage"
	"catena/storage/upload"
)

var put = engine.Op{
	Name:     "Upload.Put",
	Label:    "Upload",
	Category: "Upload",
	Doc: "Puts a file, or a chunk of one, into a batch. Chunks come in any order; the last one missing makes the file whole. " +
		"A chunk that is there already is refused, a file without chunks replaces the one of its number.",
	Run: engine.On(putParams.run).As("blob", "map"),
}

type putParams struct {
	Batch string `json:"batch" doc:"Id of the batch."`
	Index int    `json:"fileIdx" doc:"Number of the file in the batch."`
	Name  string `json:"name,omitzero" doc:"Name of the file; without it the input's."`
	Type  string `json:"type,omitzero" doc:"Type of the file; without it, it is found from name and content."`
	Chunk int    `json:"chunkIndex" default:"0" doc:"Which chunk this is, from 0."`
	Count int    `json:"chunkCount" default:"0" doc:"Of how many; 0 for a file without chunks."`
	Whole int64  `json:"fileSize" default:"0" doc:"Bytes of the whole file, if it comes in chunks; what is shown as its size until it is whole."`
}

func (p putParams) run(c *engine.Ctx, b *storage.Blob) (map[string]any, error) {
	part := upload.Part{
		Index: p.Index, Name: cmp.Or(p.Name, b.Name), Type: p.Type,
		Chunked: p.Count != 0, Chunk: p.Chunk, Count: p.Count, Whole: p.Whole,
	}
	u, err := upload.Put(c.Tx, p.Batch, part, b)
	if err != nil {
		return nil, err
	}
	m := map[string]any{
		"uploaded": "true", "batchId": p.Batch, "fileIdx": strconv.Itoa(p.Index), "uploadType": kind(u),
		"uploadedSize": strconv.FormatInt(b.Size, 10),
	}
	if u.Chunked {
		chunked(m, u)
	}
	return m, nil
}
