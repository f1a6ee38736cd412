package resource

import (
	"catena/engine"
	"catena/storage"
)

// downloaded is for the server only: callers could otherwise fill the audit log with downloads that
// never happened.
var downloaded = engine.Op{
	Name:     "Resource.Downloaded",
	Label:    "Downloaded",
	Category: "Resource",
	Doc:      "Records that a file of the document was downloaded. Only the server itself calls it.",
	Callers:  engine.Admins.From(engine.Server),
	Run:      engine.On(downloadedParams.run),
}

type downloadedParams struct {
	Xpath  string `json:"xpath" names:"xpath" doc:"Xpath of the file."`
	Name   string `json:"name" doc:"Name of the file."`
	Named  bool   `json:"named" default:"false" doc:"As in download addresses: the name may follow the xpath or replace it."`
	Reason string `json:"reason" default:"download" doc:"Reason for the download."`
	Client string `json:"clientReason,omitzero" doc:"What the client says the file is for, such as view."`
}

func (p downloadedParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if p.Named {
		p.Xpath = unnamed(d, p.Xpath)
	}
	extended := map[string]any{"blobXPath": p.Xpath, "blobFilename": p.Name, "downloadReason": p.Reason}
	// Kept apart from the reason, since a client may say what it likes.
	if p.Client != "" {
		extended["clientReason"] = p.Client
	}
	// The comment is what the front end's list of events shows of a download.
	return d, c.Tx.Fire(storage.Event{Name: "download", Doc: d, Comment: p.Name, Extra: extended})
}
