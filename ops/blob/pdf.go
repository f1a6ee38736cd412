package blob

import (
	"bytes"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/pdfconf"
)

// joining is held while files are joined: what a hostile file takes in memory, it takes once.
var joining = make(chan struct{}, 1)

// join makes one PDF of several. The library gives up on some damaged files by a panic.
func join(c *engine.Ctx, files storage.Blobs) (joined []byte, err error) {
	select {
	case joining <- struct{}{}:
		defer func() { <-joining }()
	case <-c.Done():
		return nil, c.Err()
	}
	readers := make([]io.ReadSeeker, len(files))
	for i, b := range files {
		r, err := b.Open()
		if err != nil {
			return nil, err
		}
		defer r.Close()
		readers[i] = r
	}
	defer func() {
		if p := recover(); p != nil {
			joined, err = nil, fault.Invalid.Errorf("input: PDF files that cannot be joined: %v", p).In("input")
		}
	}()
	var out bytes.Buffer
	if err := api.MergeRaw(readers, &out, false, pdfconf.New()); err != nil {
		return nil, fault.Invalid.Errorf("input: PDF files that cannot be joined: %w", err).In("input")
	}
	return out.Bytes(), nil
}
