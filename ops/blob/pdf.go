package blob

import (
	"bytes"
	"io"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// init keeps the library from making a folder of settings; the switch is one for all who
// use the library, so that it cannot wait for a call.
func init() { api.DisableConfigDir() }

// maxPDFDecoded bounds what the streams of one file unpack to.
const maxPDFDecoded = 64 << 20

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
	if err := api.MergeRaw(readers, &out, false, pdfConfig()); err != nil {
		return nil, fault.Invalid.Errorf("input: PDF files that cannot be joined: %w", err).In("input")
	}
	return out.Bytes(), nil
}

// pdfConfig reads nothing outside the files and decodes no page content.
func pdfConfig() *model.Configuration {
	conf := model.NewDefaultConfiguration()
	conf.Offline = true
	conf.Optimize = false
	conf.OptimizeBeforeWriting = false
	conf.Limits.MaxDecodeBytes = maxPDFDecoded
	return conf
}
