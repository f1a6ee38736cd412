package audit

import (
	"slices"
	"strings"
	"time"

	"catena/engine"
	"catena/engine/openapi"
	"catena/storage"
	"catena/storage/fault"
)

// Bounds of a part of the stream. Records that are not shown are read all the same, so a part may be short and still not be
// the last one.
const (
	maxActivities   = 100
	maxActivityRead = 5000 // records
)

// activityEvents are the events that people want to know of, unless they ask for others.
var activityEvents = []string{
	"documentCreated", "documentCreatedByCopy", "documentModified", "documentMoved", "documentCheckedIn", "documentPublished", "documentProxyPublished",
	"documentRestored", "documentTrashed", "documentUntrashed", "lifecycle_transition_event", "commentAdded", "commentUpdated", "afterWorkflowStarted", "afterWorkflowFinish",
}

var activity = engine.Op{
	Name:     "Activity.GetStream",
	Aliases:  []string{"Services.GetActivityStream"},
	Label:    "Activity Stream",
	Category: "Services",
	Doc: "Returns what has happened to the documents that the caller may read, newest first: to all of them, or with an input document to it and what is below it. " +
		"What one user has done to one document several times in a row is one activity with a count. If there may be more, next is the cursor to go on with; a part may have fewer activities than asked for, or none.",
	Effect:  engine.Reads,
	Callers: engine.Anyone,
	Result:  openapi.Ref("Activities"),
	Run: engine.Overload(
		engine.On(func(p activityParams, c *engine.Ctx, _ engine.Void) (map[string]any, error) { return p.run(c, nil) }).As("void", "activities"),
		engine.On(activityParams.run).As("document", "activities"),
	),
}

type activityParams struct {
	Limit  int       `json:"limit" type:"int" default:"20" min:"1" max:"100" doc:"Maximum number of activities, at most 100."`
	After  string    `json:"after,omitzero" doc:"The cursor that the part before returned as next."`
	User   string    `json:"user,omitzero" doc:"Only what this user has done."`
	Events []string  `json:"eventId,omitzero" doc:"Only these events; by default those that change a document or are about it."`
	Since  time.Time `json:"since,omitzero" doc:"Only what happened at or after this time."`
}

func (p activityParams) run(c *engine.Ctx, below *storage.Doc) (map[string]any, error) {
	if p.Limit < 1 || p.Limit > maxActivities {
		return nil, fault.Invalid.Errorf("limit: %d is not between 1 and %d", p.Limit, maxActivities).In("limit")
	}
	w := stream{c: c, p: p, below: below, docs: map[string]*storage.Doc{}, found: []any{}}
	// The log as a whole is for administrators: it is read as the system, and each record shown only to who may read its document.
	all := storage.EntryFilter{From: p.Since, PageOptions: storage.PageOptions{After: p.After}}
	if below != nil { // what has nothing below it has its own history, however much happens elsewhere
		has, err := c.Tx.HasChildren(below, false)
		if err != nil {
			return nil, err
		}
		if !has {
			all.DocID = below.ID()
		}
	}
	if err := all.Walk(c.Tx.As(c.Tx.Repo().System()), w.gather); err != nil {
		if p.After != "" && fault.Is(err, fault.Invalid) {
			return nil, fault.Wrap(err, "after").In("after")
		}
		return nil, err
	}
	if w.err == nil {
		w.show()
	}
	if w.err != nil {
		return nil, w.err
	}
	out := map[string]any{"entity-type": "activities", "entries": w.found}
	if w.next != "" {
		out["next"] = w.next
	}
	return out, nil
}

// stream collects activities.
type stream struct {
	c     *engine.Ctx
	p     activityParams
	below *storage.Doc
	docs  map[string]*storage.Doc // those that were looked up; nil: not for the caller
	read  int
	found []any
	last  map[string]any
	at    func() string // behind the record that was taken in last
	next  string
	err   error

	ahead []logged // read and not taken in
}

// logged is a record of the log, with the cursor to go on behind it.
type logged struct {
	storage.Entry
	at func() string
}

// gather takes in records, some at a time, so that their documents are read together, and reports whether more are wanted.
func (w *stream) gather(e storage.Entry, at func() string) bool {
	w.ahead = append(w.ahead, logged{e, at})
	return len(w.ahead) < max(w.p.Limit, min(w.read, recordsAhead)) || w.show()
}

// recordsAhead is how many records are gathered at most.
const recordsAhead = 500

// show takes in what was gathered, and reports whether more is wanted.
func (w *stream) show() (more bool) {
	var refs storage.Refs
	for i := range w.ahead {
		e := &w.ahead[i].Entry
		if _, known := w.docs[e.DocID]; !known && w.asks(e) {
			refs = append(refs, storage.Ref(e.DocID))
		}
	}
	if w.err = storage.Ahead(w.c.Tx, refs); w.err != nil {
		return false
	}
	stop := slices.ContainsFunc(w.ahead, func(r logged) bool { return !w.entry(r.Entry, r.at) })
	w.ahead = w.ahead[:0]
	return !stop
}

// entry takes in a record and reports whether it wants more.
func (w *stream) entry(e storage.Entry, at func() string) bool {
	if w.read++; w.read > maxActivityRead || w.read&63 == 0 && w.c.Err() != nil {
		w.next, w.err = w.at(), w.c.Err()
		return false
	}
	before := w.at
	w.at = at
	d, err := w.document(&e)
	if err != nil {
		w.err = err
		return false
	}
	if d == nil {
		return true
	}
	if m := w.last; m != nil && m["eventId"] == e.Event && m["actor"] == e.User && m["docUUID"] == e.DocID {
		m["count"] = m["count"].(int64) + 1
		m["began"] = e.Time
		return true
	}
	if len(w.found) == w.p.Limit {
		w.next = before()
		return false
	}
	w.last = map[string]any{
		"entity-type": "activity", "id": e.ID, "eventId": e.Event, "actor": e.User, "comment": e.Comment, "published": e.Time, "began": e.Time, "count": int64(1),
		"docUUID": e.DocID, "docPath": d.Path(), "docType": d.Type().Name, "docTitle": d.Title(),
	}
	w.found = append(w.found, w.last)
	return true
}

// asks reports whether a record is one of those asked for.
func (w *stream) asks(e *storage.Entry) bool {
	events := w.p.Events
	if events == nil {
		events = activityEvents
	}
	return e.DocID != "" && (w.p.User == "" || e.User == w.p.User) && slices.Contains(events, e.Event)
}

// document is the document of a record that is to be shown, nil if it is not. Versions and proxies are told of by the events of
// the documents that they are of.
func (w *stream) document(e *storage.Entry) (*storage.Doc, error) {
	if !w.asks(e) {
		return nil, nil
	}
	if d, known := w.docs[e.DocID]; known {
		return d, nil
	}
	d, err := w.c.Tx.Doc(storage.Ref(e.DocID))
	if err != nil {
		if d = nil; !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Denied) {
			return nil, err
		}
	}
	if d != nil && (d.IsVersion() || d.IsProxy() || !w.within(d)) {
		d = nil
	}
	w.docs[e.DocID] = d
	return d, nil
}

// within reports whether a document is the one asked for, or below it.
func (w *stream) within(d *storage.Doc) bool {
	if w.below == nil {
		return true
	}
	root := strings.TrimSuffix(w.below.Path(), "/")
	return d.ID() == w.below.ID() || strings.HasPrefix(d.Path(), root+"/")
}
