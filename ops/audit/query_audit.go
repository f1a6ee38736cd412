package audit

import (
	"encoding/json"
	"strings"
	"time"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

var queryAudit = engine.Op{
	Name:     "Audit.Query",
	Label:    "Query Audit Service",
	Category: "Services",
	Doc: "Returns audit records as a JSON array. The query reads FROM LogEntry log WHERE log.eventId = 'download' ORDER BY log.eventDate DESC, " +
		"with the fields id, eventId, category, principalName, comment, docUUID, docPath, docType, docLifeCycle, eventDate, logDate, repositoryId and source, " +
		"and =, <>, <, <=, >, >=, LIKE, IN, BETWEEN, IS NULL, AND, OR and NOT. The values of :name are the context variables audit.query.name. " +
		"Without maxResults, it returns at most 10,000 records.",
	Effect:  engine.Reads,
	Callers: engine.Admins.OrStored(),
	Run:     engine.On(queryParams.run),
}

type queryParams struct {
	Query string `json:"query" widget:"TextArea" doc:"The query."`
	Max   int    `json:"maxResults" type:"int" default:"0" doc:"Maximum number of records per page; 0 means all."`
	Page  int    `json:"pageNo" type:"int" default:"1" doc:"Number of the page, starting at 1."`
}

// record is an audit record as Audit.Query writes it.
type record struct {
	Event     string `json:"eventId"`
	Category  string `json:"category"`
	Date      int64  `json:"eventDate"` // milliseconds
	User      string `json:"principal"`
	DocID     string `json:"docUUID"`
	DocType   string `json:"docType"`
	DocPath   string `json:"docPath"`
	DocState  string `json:"docLifeCycle"`
	Repo      string `json:"repoId"`
	Comment   string `json:"comment"`
	LogSource string `json:"source"`
}

func (p queryParams) run(c *engine.Ctx, _ engine.Void) (*storage.Blob, error) {
	// The page is bounded so that the product below cannot overflow.
	switch {
	case p.Max < 0:
		return nil, fault.Invalid.Errorf("maxResults: must be at least 0").In("maxResults")
	case p.Page < 1 || p.Page > maxPage:
		return nil, fault.Invalid.Errorf("pageNo: must be between 1 and %d", maxPage).In("pageNo")
	}
	s, err := parse(c, p.Query, nil, variables(c))
	if err != nil {
		return nil, err
	}
	// 0 asks for all records; run then refuses more than maxSorted.
	size := min(p.Max, maxSorted)
	found, err := s.run(c, (p.Page-1)*size, size, false)
	if err != nil {
		return nil, err
	}
	records := make([]record, len(found.entries))
	for i, e := range found.entries {
		records[i] = record{
			e.Event, e.Category, e.Time.UnixMilli(), e.User, e.DocID, e.DocType, e.DocPath, e.DocState,
			c.Tx.Repo().Name(), e.Comment, e.Source,
		}
	}
	body, err := json.Marshal(records)
	if err != nil {
		return nil, err
	}
	return engine.NewBlob("audit.json", "application/json", body), nil
}

// variables are the values for the query's names, from the context variables that begin
// with audit.query. Text like {d 2012-01-31} stands for a date.
// The prefix is the platform's. It keeps other variables of the context out of the query.
func variables(c *engine.Ctx) map[string]any {
	named := map[string]any{}
	for name, v := range c.Vars {
		if short, ok := strings.CutPrefix(name, "audit.query."); ok {
			named[short] = dated(v)
		}
	}
	return named
}

// dated reads {d 2012-01-31} and {ts 2012-01-31 10:00:00}; anything else stays.
func dated(v any) any {
	s, ok := v.(string)
	if !ok || !strings.HasPrefix(s, "{") || !strings.HasSuffix(s, "}") {
		return v
	}
	_, text, ok := strings.Cut(strings.Trim(s, "{} "), " ")
	if !ok {
		return v
	}
	text = strings.Trim(text, " '")
	if t, err := time.Parse(time.DateTime, text); err == nil {
		return t
	}
	if t, err := schema.ParseDate(text); err == nil {
		return t
	}
	return v
}
