package upload_test

import (
	"testing"

	"catena/ops/opstest"
	"catena/ops/upload"
)

func TestBatches(t *testing.T) {
	s := opstest.Serve(t, upload.Ops)
	s.Play([]opstest.Row{
		{"alice", "Upload.Handlers", "", ``, `{"entity-type":"map","value":{"handlers":[{"name":"default"}]}}`},
		{"", "Upload.Handler", "", `{"name": "default"}`, `{"entity-type":"map","value":{"name":"default"}}`},
		{"", "Upload.Handler", "", `{"name": "s3"}`, "! notfound: upload handler s3"},
		{"", "Upload.Open", "", `{"handler": "s3"}`, "! notfound: upload handler s3"},
		{"", "Upload.Open", "", ``, `{…"batchId":"…`},
		{"", "keep", "", "value.batchId", "batch"},
		{"", "Upload.List", "", `{"batch": "$batch"}`, ""},
		{"", "Upload.Put", "@a.txt=Hello", `{"batch": "$batch", "fileIdx": 0}`, `{"entity-type":"map","value":{"batchId":"$batch","fileIdx":"0","uploadType":"normal","uploaded":"true","uploadedSize":"5"}}`},
		{"", "Upload.Put", "@b.txt=World", `{"batch": "$batch", "fileIdx": 2, "name": "c.txt", "type": "text/markdown"}`, `{"entity-type":"map","value":{"batchId":"$batch","fileIdx":"2","uploadType":"normal","uploaded":"true","uploadedSize":"5"}}`},
		{"", "Upload.List", "", `{"batch": "$batch"}`, `{"entity-type":"map","value":{"name":"a.txt","size":5,"uploadType":"normal"}} {"entity-type":"map","value":{"name":"c.txt","size":5,"uploadType":"normal"}}`},
		{"", "Upload.Describe", "", `{"batch": "$batch"}`, `{"entity-type":"map","value":{"batchId":"$batch","fileEntries":[{"name":"a.txt","size":5,"uploadType":"normal"},{"name":"c.txt","size":5,"uploadType":"normal"}],"provider":"default"}}`},
		{"", "Upload.File", "", `{"batch": "$batch", "fileIdx": 2}`, `{"entity-type":"map","value":{"name":"c.txt","size":5,"uploadType":"normal"}}`},
		{"", "Upload.File", "", `{"batch": "$batch", "fileIdx": 1}`, "! notfound: batch $batch: file 1"},
		{"", "Upload.File", "", `{"batch": "$batch", "fileIdx": -1}`, "! notfound: batch $batch: file -1"},
		{"", "Upload.File", "", `{"batch": "$batch"}`, `! invalid missing_parameter fileIdx: parameter "fileIdx" is missing`},
		{"", "Upload.Content", "", `{"batch": "$batch", "fileIdx": 0}`, "Hello"},
		{"", "Upload.Content", "", `{"batch": "$batch"}`, "Hello World"}, // all of them, in order
		{"", "Upload.Put", "@a.txt=Again", `{"batch": "$batch", "fileIdx": 0}`, `{"entity-type":"map","value":{"batchId":"$batch","fileIdx":"0","uploadType":"normal","uploaded":"true","uploadedSize":"5"}}`},
		{"", "Upload.Content", "", `{"batch": "$batch", "fileIdx": 0}`, "Again"},
		{"bob", "Upload.List", "", `{"batch": "$batch"}`, "! notfound: batch $batch"}, // somebody else's
		{"", "Upload.Content", "", `{"batch": "$batch", "fileIdx": 0}`, "! notfound: batch $batch"},
		{"", "Upload.DropFile", "", `{"batch": "$batch", "fileIdx": 0}`, "! notfound: batch $batch"},
		{"", "Upload.Drop", "", `{"batch": "$batch"}`, "! notfound: batch $batch"},
		{"", "Upload.Put", "@a.txt=Hello", `{"batch": "$batch", "fileIdx": 0}`, "! notfound: batch $batch"},
		{"alice", "Upload.DropFile", "", `{"batch": "$batch", "fileIdx": 0}`, ""},
		{"", "Upload.DropFile", "", `{"batch": "$batch", "fileIdx": 0}`, "! notfound: batch $batch: file 0"},
		{"", "Upload.Content", "", `{"batch": "$batch"}`, "World"},
		{"", "Upload.Drop", "", `{"batch": "$batch"}`, ""},
		{"", "Upload.List", "", `{"batch": "$batch"}`, "! notfound: batch $batch"},
		{"", "Upload.Drop", "", `{"batch": "$batch"}`, "! notfound: batch $batch"},
		{"", "Upload.Put", "@a.txt=Hello", `{"batch": "nowhere", "fileIdx": 0}`, "! notfound: batch nowhere"},
		{"", "Upload.Put", "@a.txt=Hello", `{"batch": "$batch", "fileIdx": -2}`, "! notfound: batch $batch"},
	})
}

// TestChunks: a file is whole once all of its chunks are there, in whatever order they came.
func TestChunks(t *testing.T) {
	s := opstest.Serve(t, upload.Ops)
	chunk := func(index, count string) string {
		return `{"batch": "$batch", "fileIdx": 0, "name": "a.txt", "chunkIndex": ` + index + `, "chunkCount": ` + count + `, "fileSize": 6}`
	}
	s.Play([]opstest.Row{
		{"alice", "Upload.Open", "", ``, `{…"batchId":"…`},
		{"", "keep", "", "value.batchId", "batch"},
		{"", "Upload.Put", "@blob=c3", chunk("2", "3"), `{"entity-type":"map","value":{"batchId":"$batch","chunkCount":3,"fileIdx":"0","uploadType":"chunked","uploaded":"true","uploadedChunkIds":[2],"uploadedSize":"2"}}`},
		{"", "Upload.File", "", `{"batch": "$batch", "fileIdx": 0}`, `{"entity-type":"map","value":{"chunkCount":3,"name":"a.txt","size":6,"uploadType":"chunked","uploadedChunkIds":[2]}}`},
		{"", "Upload.Content", "", `{"batch": "$batch", "fileIdx": 0}`, "! conflict upload_incomplete: batch $batch: file 0: 1 of 3 chunks received"}, // not yet
		{"", "Upload.Put", "@blob=a1", chunk("0", "3"), `{"entity-type":"map","value":{"batchId":"$batch","chunkCount":3,"fileIdx":"0","uploadType":"chunked","uploaded":"true","uploadedChunkIds":[0,2],"uploadedSize":"2"}}`},
		{"", "Upload.Put", "@blob=xx", chunk("0", "3"), "! exists upload_chunk: batch $batch: file 0: chunk 0 was already received"}, // was received
		{"", "Upload.Put", "@blob=xx", chunk("3", "3"), "! invalid chunkIndex: chunk index 3: must be less than the chunk count 3"},
		{"", "Upload.Put", "@blob=xx", chunk("-1", "3"), "! invalid chunkIndex: chunk index -1: must be less than the chunk count 3"},
		{"", "Upload.Put", "@blob=xx", chunk("1", "4"), "! conflict: batch $batch: file 0: was started with 3 chunks, not 4"}, // another number of chunks
		{"", "Upload.Put", "@blob=b2", chunk("1", "3"), `{"entity-type":"map","value":{"batchId":"$batch","chunkCount":3,"fileIdx":"0","uploadType":"chunked","uploaded":"true","uploadedChunkIds":[0,1,2],"uploadedSize":"2"}}`},
		{"", "Upload.Content", "", `{"batch": "$batch", "fileIdx": 0}`, "a1b2c3"},
		{"", "Upload.Put", "@blob=xx", chunk("1", "3"), "! exists upload_chunk: batch $batch: file 0: is already complete"}, // the file is whole
		{"", "Upload.Put", "@blob=xx", `{"batch": "$batch", "fileIdx": 1, "chunkIndex": 0, "chunkCount": 1000000000}`, "! invalid chunkCount: chunk count 1000000000: must be between 1 and 10000"},
		{"", "Upload.Put", "@blob=xx", `{"batch": "$batch", "fileIdx": 1, "chunkIndex": 0, "chunkCount": -1}`, "! invalid chunkCount: chunk count -1: must be between 1 and 10000"},
	})
}
