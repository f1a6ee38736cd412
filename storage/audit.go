package storage

import (
	"slices"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"
)

// Entry is one audit record.
type Entry struct {
	ID                                int64
	Event, Category, User, Comment    string
	DocID, DocPath, DocType, DocState string
	Time, Logged                      time.Time
	Source                            string         // "server", or "client" for entries a client wrote
	Extended                          map[string]any `json:",omitempty"`
}

// EntryFilter selects audit records. Empty parts select everything; From is included, To is not.
type EntryFilter struct {
	DocID                     string
	Events, Categories, Users []string
	From, To                  time.Time
	Ascending                 bool
	PageOptions
}

// EntryPage is a part of the audit log.
type EntryPage struct {
	Entries []Entry
	Page    // paging figures
}

const documentCategory = "eventDocumentCategory"

// logEvent writes the audit record of an event.
func (t *Tx) logEvent(e Event) error {
	entry := Entry{Event: e.Name, Category: e.Category, User: t.Actor(), Comment: e.Comment, Source: "server"}
	if entry.Category == "" && e.Doc != nil {
		entry.Category = documentCategory
	}
	if len(e.Extra) > 0 {
		entry.Extended = e.Extra
	}
	if e.Source != "" {
		entry.Extended = map[string]any{"source": e.Source}
		for k, v := range e.Extra {
			entry.Extended[k] = v
		}
	}
	d := e.Doc
	if d == nil {
		return t.putEntry(entry, nil)
	}
	entry.DocID, entry.DocPath, entry.DocType, entry.DocState = d.ID(), d.Path(), d.typ.Name, d.state
	return t.putEntry(entry, &d.id)
}

// Actor returns the name that records show: the user somebody acts for.
func (t *Tx) Actor() string {
	if t.as.Actor != "" {
		return t.as.Actor
	}
	return t.as.Name
}

func (t *Tx) appendEntry(e Entry) error {
	id, ok := parseID(e.DocID)
	if !ok {
		return t.putEntry(e, nil)
	}
	return t.putEntry(e, &id)
}

// putEntry writes an entry and, if it is of a document, where that finds it.
func (t *Tx) putEntry(e Entry, of *docID) error {
	var err error
	if e.ID, err = t.repo.db.Next(t.ctx, "audit"); err != nil {
		return err
	}
	if e.Time.IsZero() {
		e.Time = t.now
	}
	e.Logged = t.now
	b, err := e.append(make([]byte, 0, 160))
	if err != nil {
		return err
	}
	if of != nil {
		if err := t.kv.Set(auditDocKey(*of, e.Time, e.ID), nil); err != nil {
			return err
		}
	}
	return t.kv.Set(auditTimeKey(e.Time, e.ID), b)
}

// LogEntry writes an audit record as it is given; its user is always who acts, and only the system can
// make one that counts as the server's own.
func (t *Tx) LogEntry(e Entry) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if e.Event == "" {
		return fault.Invalid.Errorf("audit entry: without an event").In("event")
	}
	if e.DocID != "" {
		d, err := t.Doc(Ref(e.DocID))
		if err != nil {
			return err
		}
		e.DocID, e.DocPath, e.DocType, e.DocState = d.ID(), d.Path(), d.typ.Name, d.state
	}
	if !t.as.System {
		e.User = t.Actor()
		e.Source = "client"
	}
	if e.User == "" {
		e.User = t.Actor()
	}
	if e.Source != "server" {
		e.Source = "client"
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	t.Changed("audit", e.Event)
	return t.appendEntry(e)
}

// Entries returns audit records, newest first unless asked otherwise: those of a document the principal
// may read, or for administrators all.
func (t *Tx) Entries(f EntryFilter) (*EntryPage, error) {
	r, err := t.entryRange(f)
	if err != nil {
		return nil, err
	}
	p, err := t.repo.pager(f.PageOptions)
	if err != nil {
		return nil, err
	}
	full := r
	if p.after != nil {
		if len(p.after) != 16 {
			return nil, fault.Invalid.Errorf("cursor: not one of the audit log")
		}
		edge := append(slices.Clone(r.Start[:len(r.Start)-8]), p.after...)
		if r.Reverse {
			r.End = edge
		} else {
			r.Start = append(edge, 0)
		}
	}
	out := &EntryPage{}
	if err := t.eachEntry(f, r, func(moment []byte, e Entry) bool {
		take, more := p.row(moment)
		if take {
			out.Entries = append(out.Entries, e)
		}
		return more
	}); err != nil {
		return nil, err
	}
	if p.after != nil && p.bound > 0 {
		p.seen = 0
		if err := t.eachEntry(f, full, func([]byte, Entry) bool { p.seen++; return p.seen <= p.bound }); err != nil {
			return nil, err
		}
	}
	out.Page = p.end()
	return out, nil
}

// entryRange returns the keys to walk, after checking that they may be read.
func (t *Tx) entryRange(f EntryFilter) (r kv.Range, err error) {
	base := []byte{spaceAudit, auditByTime}
	if f.DocID != "" {
		id, ok := parseID(f.DocID)
		if !ok {
			return r, notFound(Ref(f.DocID))
		}
		if !t.rights.admin {
			if _, err := t.visible(id, Ref(f.DocID)); err != nil {
				return r, err
			}
		}
		base = append([]byte{spaceAudit, auditByDoc}, id[:]...)
	} else if !t.rights.admin {
		return r, fault.Denied.Errorf("the audit log is for administrators, not for '%s'", t.as.Name)
	}
	r = kv.Range{Start: momentEdge(base, f.From), End: momentEdge(base, f.To), Reverse: !f.Ascending}
	if f.From.IsZero() {
		r.Start = append(slices.Clone(base), make([]byte, 8)...)
	}
	if f.To.IsZero() {
		r.End = prefix(base).End
	}
	return r, nil
}

func momentEdge(base []byte, at time.Time) []byte {
	if at.IsZero() {
		return nil
	}
	k := appendMoment(slices.Clone(base), at, 0)
	return k[:len(k)-8]
}

// eachEntry walks the records of a range that the filter selects; moment is the end of their keys.
func (t *Tx) eachEntry(f EntryFilter, r kv.Range, fn func(moment []byte, e Entry) bool) error {
	rows := 0
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return err
		}
		if rows++; rows > t.repo.limits.ScanRows {
			return fault.Limit.Errorf("audit: more than %d records read", t.repo.limits.ScanRows)
		}
		moment, value := row.Key[len(row.Key)-16:], row.Value
		if f.DocID != "" {
			if value, err = t.kv.Get(append([]byte{spaceAudit, auditByTime}, moment...)); err != nil {
				return err
			}
		}
		if value == nil {
			continue
		}
		var e Entry
		if err := e.parse(value); err != nil {
			return fault.Wrap(err, "audit record %x", moment)
		}
		if f.selects(&e) && !fn(moment, e) {
			return nil
		}
	}
	return nil
}

func (f *EntryFilter) selects(e *Entry) bool {
	in := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	return in(f.Events, e.Event) && in(f.Categories, e.Category) && in(f.Users, e.User)
}
