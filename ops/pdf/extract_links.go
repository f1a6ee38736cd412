package pdf

import (
	"encoding/json"

	"catena/engine"
	"catena/engine/pdf"
	"catena/storage"
	"catena/storage/fault"
)

var extractLinks = engine.Op{
	Name:     "PDF.ExtractLinks",
	Label:    "PDF: Extract Links",
	Category: "Conversion",
	Doc:      "Returns the external links of a PDF file, of one type or all, as JSON: a list of objects with page, subType, text and link, sorted by type and page.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(extractLinksParams.run),
}

type extractLinksParams struct {
	All  bool   `json:"getAll" default:"false" doc:"Whether to return links of all types."`
	Type string `json:"type,omitzero" enum:"Launch,Remote Go To,URI" widget:"Option" doc:"Type of the links, unless getAll is true: to files, to other PDF files, or to addresses."`
}

// linkTypes are the types of links with the kinds they stand for, in the order of an answer. Links of
// any other kind, such as those within the file, are never returned.
var linkTypes = []struct{ name, kind string }{{"Launch", pdf.LinkLaunch}, {"Remote Go To", pdf.LinkRemote}, {"URI", pdf.LinkURI}}

func (p extractLinksParams) run(c *engine.Ctx, b *storage.Blob) (string, error) {
	if err := check(b); err != nil {
		return "", err
	}
	if !p.All && p.Type == "" {
		return "", fault.Invalid.Errorf("type: is required unless getAll is true").In("type")
	}
	all, err := c.PDF().Links(c, b)
	if err != nil {
		return "", err
	}
	// An empty list, not nil: clients parse the text and expect [] when there are no links.
	found := []pdf.Link{}
	for _, t := range linkTypes {
		for _, l := range all {
			if l.Kind == t.kind && (p.All || p.Type == t.name) {
				found = append(found, l)
			}
		}
	}
	raw, err := json.Marshal(found)
	return string(raw), err
}
