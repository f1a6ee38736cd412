package blob

import (
	"net/url"
	"path"

	"catena/engine"
	"catena/engine/egress"
	"catena/storage"
	"catena/storage/fault"
)

func createFromURL(client *egress.Client) engine.Op {
	return engine.Op{
		Name:     "Blob.CreateFromURL",
		Aliases:  []string{"Blob.Create"},
		Label:    "File From URL",
		Category: "Fetch",
		Doc: "Fetches an http or https address and returns the content as a file. Other schemes return nothing. " +
			"Only public https addresses are fetched unless the server is configured otherwise.",
		Effect:  engine.Reads,
		Callers: engine.Admins.OrStored(),
		Run: engine.On(func(p createFromURLParams, c *engine.Ctx, in engine.Void) (*storage.Blob, error) {
			return p.fetch(c, client)
		}),
	}
}

type createFromURLParams struct {
	File     string `json:"file" blamed:"url" type:"resource" doc:"The address."`
	Encoding string `json:"encoding,omitzero" doc:"Encoding of the text, for example UTF-8."`
	Filename string `json:"filename,omitzero" doc:"Name of the file; by default the last part of the address."`
	Type     string `json:"mime-type,omitzero" doc:"Type of the file; by default detected from name and content."`
}

// fetch gets the file. Addresses of other schemes return nothing, as in the platform; egress decides which hosts may be reached.
func (p createFromURLParams) fetch(c *engine.Ctx, client *egress.Client) (*storage.Blob, error) {
	u, err := url.Parse(p.File)
	if err != nil {
		return nil, fault.Invalid.Errorf("file: %q is not an address", p.File).In("file")
	}
	// In the platform, other schemes name resources inside of the server. There are none here, and nothing is
	// better than reading a local file because an address begins with file.
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, nil
	}
	a, err := client.Get(c, p.File)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	// Unavailable, so that a chain can tell it from a mistake in the address, and a job tries
	// again.
	if a.Status != 200 {
		return nil, fault.Unavailable.Errorf("file: the address responded with status %d", a.Status).WithCode(fault.CodeUnreachable)
	}
	name, typ := p.Filename, p.Type
	if name == "" {
		name = baseName(path.Clean("/" + u.Path))
	}
	if typ == "" {
		typ = a.Header.Get("Content-Type")
	}
	// The body is streamed into the store; reading it fails once it exceeds what egress accepts.
	b, err := c.Tx.NewBlob(name, typ, a.Body)
	if err != nil || p.Encoding == "" {
		return b, err
	}
	return b.WithEncoding(p.Encoding), nil
}
