package resource

import (
	"time"

	"catena/engine"
	"catena/storage"
)

// auditPage is the size of a page of records unless another one is asked for.
const auditPage = 50

// audit serves @audit addresses. Storage checks that the caller may read the document; the records
// of other documents are out of reach, since the filter always names the input.
var audit = engine.Op{
	Name:     "Resource.Audit",
	Label:    "Audit by Page",
	Category: "Resource",
	Doc:      "Returns a page of the document's audit records, by default newest first.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Run:      engine.On(auditParams.run),
}

type auditParams struct {
	Events     []string  `json:"eventId,omitzero" doc:"Only these events."`
	Categories []string  `json:"category,omitzero" doc:"Only events of these categories."`
	Users      []string  `json:"principalName,omitzero" doc:"Only events of these users."`
	From       time.Time `json:"startEventDate,omitzero" doc:"Only events at or after this time."`
	To         time.Time `json:"endEventDate,omitzero" doc:"Only events at or before this time."`
	PageSize   int       `json:"pageSize" default:"50" doc:"Maximum number of records per page; a negative number means the server's limit."`
	Index      int       `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	SortBy     []string  `json:"sortBy,omitzero" doc:"Fields to sort by; eventDate by default."`
	SortOrder  []string  `json:"sortOrder,omitzero" doc:"Direction for each field: asc (oldest first), or anything else for descending."`
}

func (p auditParams) run(c *engine.Ctx, d *storage.Doc) (*storage.EntryPage, error) {
	if p.PageSize == 0 {
		p.PageSize = auditPage
	}
	// As everywhere in the platform, a field without an order sorts descending.
	if len(p.SortBy) == 0 {
		p.SortBy = []string{"eventDate"}
	}
	o, err := paging{p.PageSize, p.Index, 0, 0, p.SortBy, p.SortOrder}.options(c.Tx.Repo().Limits().PageSize)
	if err != nil {
		return nil, err
	}
	if err := sortable(o.Sort); err != nil {
		return nil, err
	}
	// Records have milliseconds, and the filter ends before its end.
	if !p.To.IsZero() {
		p.To = p.To.Truncate(time.Millisecond).Add(time.Millisecond)
	}
	f := storage.EntryFilter{
		DocID: d.ID(), Events: p.Events, Categories: p.Categories, Users: p.Users,
		From: p.From, To: p.To, Ascending: !o.Sort[0].Desc, PageOptions: o.PageOptions,
	}
	// The first field decides: no two records have the same position in the log, so further fields
	// could not change the order.
	if moments[o.Sort[0].Field] {
		return c.Tx.Entries(f)
	}
	return sorted(c, f, o.Sort)
}
