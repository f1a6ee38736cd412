package render

import (
	"bytes"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"catena/storage/fault"
)

// settings are pdfcpu's, which would otherwise write a folder of its own on first use.
func settings() *model.Configuration {
	api.DisableConfigDir()
	c := model.NewDefaultConfiguration()
	c.Offline, c.Optimize, c.OptimizeBeforeWriting = true, false, false
	c.ValidationMode = model.ValidationRelaxed
	return c
}

// finish writes into a file which renderer made it of what, and checks that it is whole.
func finish(data []byte, d *Deck, renderer string) ([]byte, error) {
	about := map[string]string{"Renderer": renderer}
	for name, text := range map[string]string{"Author": d.Author, "Subject": d.Description} {
		if text != "" {
			about[name] = text
		}
	}
	var b bytes.Buffer
	if err := api.AddProperties(bytes.NewReader(data), &b, about, settings()); err != nil {
		return nil, fault.Internal.Errorf("PDF of %s: %w", renderer, err).WithCode(CodeCrashed)
	}
	return b.Bytes(), nil
}
