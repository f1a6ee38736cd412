package pdf

import (
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// Decoded bounds what one stream of a file unpacks to, in bytes.
const Decoded = 64 << 20

// This keeps the library from making a folder of settings. It sets a variable of the library, which nobody may
// write while another reads it: hence before anything else runs.
var _ = func() bool {
	api.DisableConfigDir()
	return true
}()

// Settings returns the settings for reading one file as it is: nothing is optimised, and no stream unpacks to more
// than Decoded. They are the caller's own to change.
func Settings() *model.Configuration {
	c := model.NewDefaultConfiguration()
	c.Offline, c.Optimize, c.OptimizeBeforeWriting = true, false, false
	c.Limits.MaxDecodeBytes = Decoded
	return c
}
