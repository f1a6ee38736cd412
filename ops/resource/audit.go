package resource

import (
	"time"

	"catena/engine"
	"catena/storage"
)

// auditPage is the size of a page of records unless another one is asked for.
const auditPage = 50

var audit = engine.Op{
	Name:     "Resource.Audit",
	Label:    "Audit by Page",
	Category: "Resource",
	Doc:      "Returns a page of the document's audit records, newest first unless sorted otherwise.",
	Effect:   engine.Reads,
	Run:      engine.On(auditParams.run),
}

type auditParams struct {
	Events     []string  `json:"eventId,omitzero" doc:"Only these events."`
	Categories []string  `json:"category,omitzero" doc:"Only events of these categories."`
	Users      []string  `json:"principalName,omitzero" doc:"Only what these users did."`
	From       time.Time `json:"startEventDate,omitzero" doc:"Only events from here on."`
	To         time.Time `json:"endEventDate,omitzero" doc:"Only events up to here."`
	PageSize   int       `json:"pageSize" default:"50" doc:"Most records of the page."`
	Index      int       `json:"currentPageIndex" default:"0" doc:"Number of the page, from 0."`
	SortBy     []string  `json:"sortBy,omitzero" doc:"Fields to sort by; eventDate unless given."`
	SortOrder  []string  `json:"sortOrder,omitzero" doc:"For each field asc, or else descending: asc has the oldest first."`
}

func (p auditParams) run(c *engine.Ctx, d *storage.Doc) (*storage.EntryPage, error) {
	if p.PageSize == 0 {
		p.PageSize = auditPage
	}
	if len(p.SortBy) == 0 {
		p.SortBy = []string{"eventDate"}
	}
	o, err := paging{p.PageSize, p.Index, 0, 0, p.SortBy, p.SortOrder}.options()
	if err != nil {
		return nil, err
	}
	f := storage.EntryFilter{
		DocID: d.ID(), Events: p.Events, Categories: p.Categories, Users: p.Users,
		From: p.From, To: p.To, Ascending: !o.Sort[0].Desc, PageOptions: o.PageOptions,
	}
	if moments[o.Sort[0].Field] {
		return c.Tx.Entries(f)
	}
	return sorted(c, f, o.Sort)
}
