package storage

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/zone"
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

// EntryFields are the parts of a record by the names that searches use; repositoryId has no function, for all records of a
// repository have the same.
var EntryFields = map[string]func(*Entry) any{
	"category":      func(e *Entry) any { return e.Category },
	"comment":       func(e *Entry) any { return e.Comment },
	"docLifeCycle":  func(e *Entry) any { return e.DocState },
	"docPath":       func(e *Entry) any { return e.DocPath },
	"docType":       func(e *Entry) any { return e.DocType },
	"docUUID":       func(e *Entry) any { return e.DocID },
	"eventDate":     func(e *Entry) any { return e.Time },
	"eventId":       func(e *Entry) any { return e.Event },
	"id":            func(e *Entry) any { return e.ID },
	"logDate":       func(e *Entry) any { return e.Logged },
	"principalName": func(e *Entry) any { return e.User },
	"repositoryId":  nil,
	"source":        func(e *Entry) any { return e.Source },
}

// EntryFilter selects audit records. What is empty selects everything; From is included, To is not.
type EntryFilter struct {
	DocID                     string
	Events, Categories, Users []string
	From, To                  time.Time
	Ascending                 bool
	PageOptions

	// Parts says which parts of a run of records may have some that are of interest. Others are not read.
	Parts func(m *zone.Map) zone.Parts
	// Whole is asked for a run of so many records, if all are selected, whether it is to be passed over.
	Whole func(records int) bool
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
		_, err := t.putEntry(entry, nil)
		return err
	}
	entry.DocID, entry.DocPath, entry.DocType, entry.DocState = d.ID(), d.Path(), d.typ.Name, d.state
	feeds := t.feeds()
	number, err := t.putEntry(entry, &d.id)
	if err != nil || !feeds {
		return err
	}
	return t.feedEvent(number, e)
}

// Actor returns the name that records show: the user somebody acts for.
func (t *Tx) Actor() string {
	if t.as.Actor != "" {
		return t.as.Actor
	}
	return t.as.Name
}

func (t *Tx) appendEntry(e Entry) error {
	var of *layout.ID
	if id, ok := layout.ParseID(e.DocID); ok {
		of = &id
	}
	_, err := t.putEntry(e, of)
	return err
}

// audited is the row of the log that a transaction has begun: entries that happened at the same time go
// into it, for a row costs more than what is in it. It is written when it is full, and before anybody reads.
type audited struct {
	at    time.Time
	first int64  // the number of the first entry
	block []byte // the entries
}

// auditBlock is from how many bytes on a row of the log takes no further entry.
const auditBlock = 1 << 10

// auditSequence numbers the entries.
const auditSequence = "audit"

// putEntry adds an entry to the log and, if it is of a document, writes where that finds it. It returns its number.
func (t *Tx) putEntry(e Entry, of *layout.ID) (int64, error) {
	var err error
	if e.ID, err = t.repo.db.Next(t.ctx, auditSequence); err != nil {
		return 0, err
	}
	if e.Time.IsZero() {
		e.Time = t.now
	}
	e.Logged = t.now
	a := &t.audited
	if len(a.block) >= auditBlock || len(a.block) > 0 && !a.at.Equal(e.Time) {
		if err := t.putAudited(); err != nil {
			return 0, err
		}
	}
	from := len(a.block)
	if from == 0 {
		*a = audited{e.Time, e.ID, make([]byte, 0, 160)}
	}
	block, err := e.append(a.block)
	if err != nil {
		return 0, err
	}
	a.block = block
	if of == nil {
		return e.ID, nil
	}
	return e.ID, t.kv.Fresh(layout.AuditDocKey(*of, e.Time, e.ID), auditLocation(e.ID-a.first, from))
}

// putAudited writes the row of the log that was begun.
func (t *Tx) putAudited() error {
	a := t.audited
	if len(a.block) == 0 {
		return nil
	}
	t.audited = audited{}
	if a.at.Before(t.now) || a.at.UnixMilli() < t.repo.zones.floor.Load() { // maybe too late for the zone map of its place
		if err := t.dropZone(placeIn(layout.AuditTimeKey(a.at, a.first))); err != nil {
			return err
		}
	}
	key := layout.AuditTimeKey(a.at, a.first)
	row := kv.AppendRow(make([]byte, 0, len(key)+kv.RowGap+len(a.block)), key)
	return t.kv.FreshRow(append(row, a.block...), len(key))
}

// auditLocation says where an entry is: so many numbers behind the first one of its row, which it does not
// follow at once, and from which byte of the row on. That of the first entry is empty.
func auditLocation(behind int64, from int) []byte {
	if from == 0 {
		return nil
	}
	return binary.AppendUvarint(binary.AppendUvarint(make([]byte, 0, 8), uint64(behind)), uint64(from))
}

// auditedIn returns the key of the row that holds the entry whose moment and location are given, and from which byte of it on.
func auditedIn(moment, location []byte) (key []byte, from uint64) {
	key = append([]byte{layout.AuditSpace, layout.AuditByTime}, moment...)
	if len(location) == 0 {
		return key, 0
	}
	in := layout.Reader{B: location}
	behind, from := in.Uvarint(), in.Uvarint()
	if in.Bad {
		from = math.MaxUint64
	}
	return binary.BigEndian.AppendUint64(key[:len(key)-8], binary.BigEndian.Uint64(moment[8:])-behind), from
}

// auditedAt returns the row that holds the entry whose moment and location are given, from that entry on.
func (t *Tx) auditedAt(moment, location []byte) ([]byte, error) {
	key, from := auditedIn(moment, location)
	block, err := t.kv.Get(key)
	if err == nil && len(location) > 0 && from >= uint64(len(block)) {
		err = fault.Internal.Errorf("audit record %x: its location %x is invalid", moment, location)
	}
	if err != nil {
		return nil, err
	}
	return block[from:], nil
}

// Walk calls fn with the records of all documents, newest first, from where a cursor is, until it returns false.
// The cursor that fn gets is where to go on behind the record. It is for the system, and for administrators.
func (f EntryFilter) Walk(t *Tx, fn func(e Entry, at func() string) bool) error {
	full, err := t.entryRange(f)
	if err != nil {
		return err
	}
	if err := t.putAudited(); err != nil {
		return err
	}
	p, err := t.repo.pager(f.PageOptions)
	if err != nil {
		return err
	}
	r, err := fromCursor(full, p.after)
	if err != nil {
		return err
	}
	return t.eachEntry(f, r, func(at []byte, e Entry) bool {
		if p.after != nil && bytes.Compare(at, p.after) >= 0 {
			return true
		}
		return fn(e, func() string { return base64.RawURLEncoding.EncodeToString(at) })
	})
}

// Entries returns audit records, newest first unless asked otherwise: those of a document the principal
// may read, or for administrators all.
func (t *Tx) Entries(f EntryFilter) (*EntryPage, error) {
	r, err := t.entryRange(f)
	if err != nil {
		return nil, err
	}
	if err := t.putAudited(); err != nil {
		return nil, err
	}
	p, err := t.repo.pager(f.PageOptions)
	if err != nil {
		return nil, err
	}
	full := r
	if r, err = fromCursor(r, p.after); err != nil {
		return nil, err
	}
	if f.DocID != "" {
		if err := t.entriesAhead(r, p.Offset+p.size+1); err != nil {
			return nil, err
		}
	}
	out := &EntryPage{}
	passed := p.after == nil
	f.Whole = p.pass
	if err := t.eachEntry(f, r, func(at []byte, e Entry) bool {
		if !passed {
			order := bytes.Compare(at, p.after)
			if passed = order > 0 && !r.Reverse || order < 0 && r.Reverse; !passed {
				return true
			}
		}
		take, more := p.row(at)
		if take {
			out.Entries = append(out.Entries, e)
		}
		return more
	}); err != nil {
		return nil, err
	}
	if err := t.countEntries(f, full, p); err != nil {
		return nil, err
	}
	out.Page = p.end()
	return out, nil
}

// countEntries counts the entries for a page behind a cursor, which has not seen those before it.
func (t *Tx) countEntries(f EntryFilter, r kv.Range, p *pager) error {
	if p.after == nil || p.bound <= 0 {
		return nil
	}
	p.seen = 0
	return t.eachEntry(f, r, func([]byte, Entry) bool { p.seen++; return p.seen <= p.bound })
}

// fromCursor leaves out the rows of a range that precede the cursor, if there is one. Only the first 16 bytes of a cursor
// are part of the key; records that share them are skipped as they are read.
func fromCursor(r kv.Range, after []byte) (kv.Range, error) {
	if after == nil {
		return r, nil
	}
	if len(after) != auditCursor {
		return r, fault.Invalid.Errorf("cursor: not a cursor of the audit log")
	}
	edge := append(slices.Clone(r.Start[:len(r.Start)-8]), after[:16]...)
	if r.Reverse {
		r.End = append(edge, 0)
	} else {
		r.Start = edge
	}
	return r, nil
}

// entryRange returns the keys to walk, after checking that they may be read.
func (t *Tx) entryRange(f EntryFilter) (r kv.Range, err error) {
	base := []byte{layout.AuditSpace, layout.AuditByTime}
	if f.DocID != "" {
		id, ok := layout.ParseID(f.DocID)
		if !ok {
			return r, notFound(Ref(f.DocID))
		}
		if !t.rights.admin {
			if _, err := t.visible(id, Ref(f.DocID)); err != nil {
				return r, err
			}
		}
		base = append([]byte{layout.AuditSpace, layout.AuditByDoc}, id[:]...)
	} else if !t.rights.admin {
		return r, fault.Denied.Errorf("only administrators may read the audit log, not '%s'", t.as.Name)
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

// docEntries is where the records of a document are found, newest first.
func docEntries(id layout.ID) kv.Range {
	base := append([]byte{layout.AuditSpace, layout.AuditByDoc}, id[:]...)
	return kv.Range{Start: append(slices.Clone(base), make([]byte, 8)...), End: prefix(base).End, Reverse: true}
}

func momentEdge(base []byte, at time.Time) []byte {
	if at.IsZero() {
		return nil
	}
	k := layout.AppendMoment(slices.Clone(base), at, 0)
	return k[:len(k)-8]
}

// auditCursor is the length of what says where an entry is among those of a walk: its row's moment, and from
// which byte of the row on.
const auditCursor = 18

// eachEntry walks the records of a range that the filter selects.
func (t *Tx) eachEntry(f EntryFilter, r kv.Range, fn func(at []byte, e Entry) bool) error {
	w := logWalk{t: t, f: &f, fn: fn}
	if f.DocID == "" {
		return w.log(r)
	}
	return w.rows(r)
}

func (f *EntryFilter) selects(e *Entry) bool {
	in := func(list []string, v string) bool { return len(list) == 0 || slices.Contains(list, v) }
	return in(f.Events, e.Event) && in(f.Categories, e.Category) && in(f.Users, e.User)
}

// The bits of the second byte of an entry of the audit log, whose first is entryFormat.
const (
	entryDoc       = 1 << iota // about a document
	entryOfDoc                 // of the category of documents
	entryClient                // written by a client
	entryExtended              // with an extended part
	entryBelated               // logged at another time than it happened
	entryCommented             // with a comment
)

// entryAlone was the format of entries of which rows had one each: the extended part went to the end.
const (
	entryAlone  = 1
	entryFormat = 2
)

// append writes the entry as a row holds it, which may hold others behind it.
func (e *Entry) append(dst []byte) ([]byte, error) {
	id, doc := layout.ParseID(e.DocID)
	var bits byte
	for i, on := range []bool{
		doc, e.Category == documentCategory, e.Source == "client", len(e.Extended) > 0, !e.Logged.Equal(e.Time), e.Comment != "",
	} {
		if on {
			bits |= 1 << i
		}
	}
	dst = append(dst, entryFormat, bits)
	dst = binary.AppendVarint(dst, e.ID)
	dst = binary.AppendVarint(dst, e.Time.UnixMilli())
	dst = layout.AppendText(layout.AppendText(dst, e.Event), e.User)
	if doc {
		dst = append(dst, id[:]...)
		dst = layout.AppendText(layout.AppendText(layout.AppendText(dst, e.DocPath), e.DocType), e.DocState)
	}
	if bits&entryOfDoc == 0 {
		dst = layout.AppendText(dst, e.Category)
	}
	if bits&entryBelated != 0 {
		dst = binary.AppendVarint(dst, e.Logged.UnixMilli())
	}
	if bits&entryCommented != 0 {
		dst = layout.AppendText(dst, e.Comment)
	}
	if bits&entryExtended == 0 {
		return dst, nil
	}
	b, err := json.Marshal(e.Extended)
	if err != nil {
		return nil, fault.Invalid.Errorf("audit entry %s: %w", e.Event, err)
	}
	return layout.AppendText(dst, string(b)), nil
}

// parse reads what append wrote and returns what follows.
func (e *Entry) parse(b []byte) (rest []byte, err error) {
	in := layout.Reader{B: b}
	head := in.Take(2)
	if len(head) < 2 || head[0] != entryFormat && head[0] != entryAlone {
		return nil, fault.Internal.Errorf("audit row: unknown format")
	}
	bits := head[1]
	*e = Entry{ID: in.Varint(), Time: in.Time(), Event: in.Text(), User: in.Text(), Category: documentCategory, Source: "server"}
	if bits&entryDoc != 0 {
		e.DocID, e.DocPath, e.DocType, e.DocState = in.ID().String(), in.Text(), in.Text(), in.Text()
	}
	if bits&entryOfDoc == 0 {
		e.Category = in.Text()
	}
	if bits&entryClient != 0 {
		e.Source = "client"
	}
	e.Logged = e.Time
	if bits&entryBelated != 0 {
		e.Logged = in.Time()
	}
	if bits&entryCommented != 0 {
		e.Comment = in.Text()
	}
	if bits&entryExtended != 0 && !in.Bad {
		var extended []byte
		if head[0] == entryAlone {
			extended = in.Take(len(in.B))
		} else {
			extended = in.Bytes()
		}
		if in.Bad {
			return nil, errShortEntry()
		}
		if err := json.Unmarshal(extended, &e.Extended); err != nil {
			return nil, fault.Internal.Errorf("audit row: %w", err)
		}
	}
	if in.Bad {
		return nil, errShortEntry()
	}
	return in.B, nil
}

func errShortEntry() error { return fault.Internal.Errorf("audit row: cut short") }
