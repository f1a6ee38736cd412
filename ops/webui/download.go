package webui

import (
	"catena/engine"
	"catena/storage"
)

// downloadVar is the context variable that says that the call ends with a file to be downloaded.
// The entry point reads it after the call, to answer with the address of the file.
const downloadVar = "Seam.DownloadFile"

var downloadFile = engine.Op{
	Name:     "WebUI.DownloadFile",
	Aliases:  []string{downloadVar},
	Label:    "Download file",
	Category: interfaces,
	Requires: needs,
	Doc: "Makes the user interface download the file, and returns nothing. The UI session keeps the file until the next one; a REST call that returns no result " +
		"responds with 303 and its address.",
	Callers: engine.Anyone,
	Run:     engine.On(downloadParams.run).As("blob", "void"),
}

type downloadParams struct{}

func (downloadParams) run(c *engine.Ctx, b *storage.Blob) (any, error) {
	s, err := session(c)
	if err != nil {
		return nil, err
	}
	// The session holds on to the content, which may belong to no document and would otherwise be
	// swept away. The file before is released.
	if err := s.Hold(c.Tx, b); err != nil {
		return nil, err
	}
	c.SetVar(downloadVar, s.ID)
	return nil, s.Keep(c.Tx)
}

var file = engine.Op{
	Name:     "UISession.File",
	Label:    "File to Download",
	Category: interfaces,
	Doc:      "Returns the file that WebUI.DownloadFile left in a UI session.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(namedParams.file),
}

// Reading does not use the file up: browsers ask for a file again when a download is interrupted.
func (p namedParams) file(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	s, err := p.find(c)
	if err != nil {
		return nil, err
	}
	return s.Download(c.Tx)
}
