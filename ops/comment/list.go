package comment

import (
	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

var list = engine.Op{
	Name:     "Comment.List",
	Label:    "Comments",
	Category: category,
	Doc:      "Returns the comments on the input document, or the replies to a comment, newest first; annotations oldest first.",
	Effect:   engine.Reads,
	Callers:  engine.Anyone,
	Result:   openapi.Ref("Comments"),
	Run:      engine.On(listParams.run),
}

// most is the longest list of comments in one answer.
const most = 1000

type listParams struct {
	PageSize   int    `json:"pageSize" default:"0" doc:"Maximum number of entries per page; 0 means the limit of 1000."`
	Index      int    `json:"currentPageIndex" default:"0" doc:"Number of the page, starting at 0."`
	Xpath      string `json:"xpath,omitzero" doc:"Only annotations of this property."`
	Annotation bool   `json:"annotation" default:"false" doc:"Annotations instead of comments."`
	Summary    bool   `json:"repliesSummary" default:"false" doc:"Include, for each, the number of replies and the date of the last one."`

	Under []string `json:"under,omitzero" doc:"Ids of annotations or comments on the document: returns all replies to them instead."`
}

func (p listParams) run(c *engine.Ctx, d *storage.Doc) (map[string]any, error) {
	// No size means everything in the platform; here it is bounded.
	if p.PageSize <= 0 || p.PageSize > most {
		p.PageSize = most
	}
	offset, err := engine.Offset(max(p.Index, 0), p.PageSize)
	if err != nil {
		return nil, err
	}
	where, args := "ecm:parentId = ?", []any{d.ID(), typeOf(p.Annotation)}
	switch {
	case len(p.Under) > most:
		return nil, fault.Limit.Errorf("under: %d ids, limit %d", len(p.Under), most).In("under")
	case len(p.Under) > 0:
		where, args = "ecm:ancestorId = ?", append(args, p.Under)
	}
	where += " AND ecm:primaryType = ?"
	if len(p.Under) > 0 {
		where += " AND ecm:ancestorId IN (?)"
	}
	if p.Xpath != "" {
		where, args = where+" AND annotation:xpath = ?", append(args, p.Xpath)
	}
	// The id decides between equal dates, so that pages neither repeat nor lose a comment.
	order := " ORDER BY comment:creationDate DESC, ecm:uuid DESC"
	if p.Annotation {
		order = " ORDER BY comment:creationDate, ecm:uuid"
	}
	page, err := search.Query(c.Tx, "SELECT * FROM Comment WHERE "+where+" AND ecm:isTrashed = 0"+order, search.Options{
		Args: args, PageOptions: storage.PageOptions{Limit: p.PageSize, Offset: offset},
	})
	if err != nil {
		return nil, err
	}
	entries := make([]any, len(page.Docs))
	for i, found := range page.Docs {
		if entries[i], err = entity(c, found, p.Summary); err != nil {
			return nil, err
		}
	}
	word := "comments"
	if p.Annotation {
		word = "annotations"
	}
	return map[string]any{"entity-type": word, "totalSize": page.Total, "entries": entries}, nil
}
