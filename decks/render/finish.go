package render

import (
	"bytes"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/engine/pdf"
	"catena/storage/fault"
)

// settings are for files that a renderer made, which may hold large pictures.
func settings() *model.Configuration {
	c := pdf.Settings()
	c.ValidationMode = model.ValidationRelaxed
	c.Limits.MaxDecodeBytes = filter.DefaultMaxDecodeBytes
	return c
}

// finish checks that a file is whole, and writes into it what it is of and which renderer
// made it. What is the same in it is then there once; more is not gained by optimising it.
func finish(data []byte, d *Deck, renderer string, slides int) ([]byte, error) {
	about := map[string]string{"Renderer": renderer, "Slides": strconv.Itoa(slides), "Creator": "catena"}
	// An empty entry would be shown as such by PDF viewers.
	for name, text := range map[string]string{"Author": d.Author, "Subject": d.Description, "Title": d.Title} {
		if text != "" {
			about[name] = text
		}
	}
	var b bytes.Buffer
	if err := api.AddProperties(bytes.NewReader(data), &b, about, settings()); err != nil {
		return nil, fault.Internal.Errorf("PDF of %s: %w", renderer, err).WithCode(fault.CodeRenderCrashed)
	}
	return b.Bytes(), nil
}
