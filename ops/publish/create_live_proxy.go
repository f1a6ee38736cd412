package publish

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var createLiveProxy = engine.Op{
	Name:     "Document.CreateLiveProxy",
	Aliases:  []string{"CreateProxyLive"},
	Label:    "Create Live Proxy",
	Category: "Document",
	Doc: "Shows the document in another folder too and returns the proxy there: it has a place and permissions of its own, " +
		"and the rest of the document, as it changes.",
	Run: engine.Each(createLiveProxyParams.run),
}

type createLiveProxyParams struct {
	Path string `json:"Destination Path" doc:"Path of the folder."`
}

func (p createLiveProxyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if !strings.HasPrefix(p.Path, "/") {
		return nil, fault.Invalid.Errorf("Destination Path: a path expected, not %q", p.Path).In("Destination Path")
	}
	folder, err := c.Tx.Doc(storage.Ref(p.Path))
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid.Errorf("Destination Path: no document %s", p.Path).In("Destination Path")
	}
	if err != nil {
		return nil, err
	}
	return c.Tx.CreateProxy(d, folder)
}
