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
	Doc: "Creates a proxy of the document in another folder and returns it. The proxy has its own location and permissions " +
		"and otherwise follows the document as it changes.",
	// A live proxy gives readers of the other folder every later change, so clients may not create
	// one on their own; the platform has the same rule.
	Callers: engine.Admins.OrStored(),
	Run:     engine.Each(createLiveProxyParams.run),
}

type createLiveProxyParams struct {
	Path string `json:"Destination Path" doc:"Path of the folder."`
}

func (p createLiveProxyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// The parameter takes a path only, as in the platform, and its name has a space there, too.
	if !strings.HasPrefix(p.Path, "/") {
		return nil, fault.Invalid.Errorf("Destination Path: must be a path, not %q", p.Path).In("Destination Path")
	}
	folder, err := c.Tx.Doc(storage.Ref(p.Path))
	if fault.Is(err, fault.NotFound) {
		return nil, fault.Invalid.Errorf("Destination Path: document %s does not exist", p.Path).In("Destination Path")
	}
	if err != nil {
		return nil, err
	}
	return c.Tx.CreateProxy(d, folder)
}
