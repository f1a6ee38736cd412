package blob

import (
	"net/url"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/hold"
)

var postToURL = engine.Op{
	Name:     "Blob.PostToURL",
	Aliases:  []string{"Blob.Post"},
	Label:    "HTTP Post",
	Category: "Files",
	Doc: "Sends the file as the body of a POST request to an address and returns the file. It is sent after the call is committed, and retried if that fails. " +
		"Only public https addresses are fetched unless the server is configured otherwise.",
	Callers: engine.Admins.OrStored(),
	Run:     engine.Each(postToURLParams.run),
}

type postToURLParams struct {
	URL string `json:"url" doc:"The address."`
}

func (p postToURLParams) run(c *engine.Ctx, b *storage.Blob) (*storage.Blob, error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fault.Invalid.Errorf("url: must be an http or https address").In("url")
	}
	// Which hosts may be reached is checked when the job connects, since names can resolve to
	// another address by then.
	if err := hold.Stage(c.Tx, b); err != nil {
		return nil, err
	}
	return b, c.Enqueue(postJob, posting{p.URL, *b})
}
