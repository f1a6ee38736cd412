package storage

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// Event is something that happens to the content, told to listeners in its transaction.
type Event struct {
	Name     string
	Doc      *Doc // nil for an event without document
	Time     time.Time
	Category string
	Comment  string
	Source   string
	Changed  []string // of documentModified: the xpaths
	Extra    map[string]any

	left layout.ID // of what was moved: the folder it was in
}

// Fire records an event: its audit record is written in this transaction and listeners run. Events
// that announce something (aboutTo…, before…) leave no record.
func (t *Tx) Fire(e Event) error {
	if e.Name == "" {
		return fault.Invalid.Errorf("event: the name is missing").In("event")
	}
	if e.Doc != nil {
		if err := t.need(e.Doc, permRead); err != nil {
			return err
		}
	}
	return t.fire(e)
}

// fire records an event in the audit log and calls the listeners, in the order in which they were added, in this transaction: an error
// of one of them fails the change. Events that announce a change (aboutTo…, before…) are not recorded, because it may still fail.
// Both bounds protect against listeners that trigger each other.
func (t *Tx) fire(e Event) error {
	announces := strings.HasPrefix(e.Name, "aboutTo") || strings.HasPrefix(e.Name, "before")
	// Nothing is recorded of an announcement, so without listeners there is nothing to do.
	if announces && len(t.repo.listeners) == 0 {
		return nil
	}
	if err := t.MayWrite(); err != nil {
		return err
	}
	l := t.repo.limits
	if t.events++; t.events > l.EventsACall {
		return fault.Limit.Errorf("event %s: more than %d events", e.Name, l.EventsACall).WithCode(fault.CodeEvents)
	}
	if t.depth >= l.EventDepth {
		return fault.Limit.Errorf("event %s: events fired by events are nested more than %d levels", e.Name, l.EventDepth).WithCode(fault.CodeEventLoop)
	}
	e.Time = t.now
	if !announces {
		if err := t.logEvent(e); err != nil {
			return err
		}
	}
	// Listeners run in the transaction and may change documents, which fires further events.
	t.depth++
	defer func() { t.depth-- }()
	for _, fn := range t.repo.listeners {
		if err := fn(t, e); err != nil {
			return err
		}
	}
	return nil
}

// Change is one effect of a transaction, as a dry run lists it.
type Change struct {
	Kind string `json:"kind"` // create, update, delete, move, copy, lock, unlock, acl, lifecycle, version, job, audit, record
	ID   string `json:"id,omitempty"`
	Path string `json:"path,omitempty"`
	Type string `json:"type,omitempty"`
	Note string `json:"note,omitempty"` // e.g. the changed xpaths, the job's kind
}

// RecordChanges has the transaction collect its changes from here on.
func RecordChanges(t *Tx) { t.record = true }

// Changes returns what the transaction has changed since Record, in order, coalesced by document.
func Changes(t *Tx) []Change { return append([]Change(nil), t.changes...) }

// maxNoted is how many changes are kept one by one.
const maxNoted = 10_000

// Noted returns what the transaction has changed since Record one by one, the first ones if they are very many.
func Noted(t *Tx) []Change { return t.single }

// NoteChange notes an effect on something other than a document.
func NoteChange(t *Tx, kind, note string) { t.changed(Change{Kind: kind, Note: note}, nil) }

// changed notes a change of a document. Updates of what the transaction itself created, and a second
// change of the same kind, are part of the first.
func (t *Tx) changed(c Change, d *Doc) {
	if !t.record {
		return
	}
	if d != nil {
		c.ID, c.Path, c.Type = d.ID(), d.Path(), d.typ.Name
	}
	if len(t.single) < maxNoted {
		t.single = append(t.single, c)
	}
	if d != nil {
		for i := len(t.changes) - 1; i >= 0; i-- {
			o := &t.changes[i]
			if o.ID != c.ID {
				continue
			}
			made := o.Kind == "create" || o.Kind == "copy"
			switch {
			case made && c.Kind == "delete":
				t.changes = append(t.changes[:i], t.changes[i+1:]...)
				return
			case made && c.Kind != "acl" && c.Kind != "lock" && c.Kind != "unlock":
				o.Path = c.Path
				return
			case o.Kind == c.Kind:
				o.Note = joinNotes(o.Note, c.Note)
				o.Path = c.Path
				return
			}
		}
	}
	t.changes = append(t.changes, c)
}

func joinNotes(a, b string) string {
	if a == b {
		return a
	}
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// LogEntry writes an audit record as it is given; its user is always who acts, and only the system can
// make one that counts as the server's own.
func (t *Tx) LogEntry(e Entry) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	if e.Event == "" {
		return fault.Invalid.Errorf("audit entry: the event is missing").In("event")
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
	NoteChange(t, "audit", e.Event)
	return t.appendEntry(e)
}

// Restore writes a record that was taken from a log before, with its own time, user and document, which may be gone;
// a record that is there already is left alone, so a restore that was interrupted can be begun again. Only administrators may.
// What comes from a file cannot be proven: such records are marked as written by a client, and say by whom they were restored
// and what they were before.
func (e Entry) Restore(t *Tx) (added bool, err error) {
	if !t.rights.admin {
		return false, fault.Denied.Errorf("only administrators may restore audit records, not '%s'", t.as.Name)
	}
	if err := t.MayWrite(); err != nil {
		return false, err
	}
	switch {
	case e.Event == "":
		return false, fault.Invalid.Errorf("audit record: eventId is missing")
	case e.Time.IsZero():
		return false, fault.Invalid.Errorf("audit record %s: eventDate is missing", e.Event)
	case e.Time.After(t.now):
		return false, fault.Invalid.Errorf("audit record %s: eventDate %s is in the future", e.Event, e.Time.UTC().Format(time.RFC3339))
	}
	e.Time = e.Time.UTC().Truncate(time.Millisecond)
	if there, err := t.hasEntry(&e); there || err != nil {
		return false, err
	}
	extended := maps.Clone(e.Extended)
	if extended == nil {
		extended = map[string]any{}
	}
	extended["restoredBy"] = t.Actor()
	if e.Source != "" {
		extended["restoredSource"] = e.Source
	}
	if e.ID != 0 {
		extended["restoredId"] = e.ID
	}
	e.Extended, e.Source = extended, "client"
	NoteChange(t, "audit", e.Event)
	return true, t.appendEntry(e)
}

// hasEntry reports whether the log has a record of the same event at the same time.
func (t *Tx) hasEntry(e *Entry) (found bool, err error) {
	if err := t.putAudited(); err != nil {
		return false, err
	}
	base := []byte{layout.AuditSpace, layout.AuditByTime}
	r := kv.Range{Start: momentEdge(base, e.Time), End: momentEdge(base, e.Time.Add(time.Millisecond))}
	f := EntryFilter{Events: []string{e.Event}, Users: []string{e.User}, Categories: []string{e.Category}}
	w := logWalk{t: t, f: &f, fn: func(_ []byte, other Entry) bool {
		found = slices.Equal([]string{e.DocID, e.DocPath, e.Comment}, []string{other.DocID, other.DocPath, other.Comment})
		return !found
	}}
	err = w.rows(r)
	return found, err
}

// awaitedKey holds the names of the events that something has ever waited for, each with a line end before and behind it. It is
// read in the transaction in which an event happens, so that a server which has not heard of the wait cannot overlook it: of two
// transactions at the same time, in one of which the first wait for an event begins and in the other the event happens, one
// runs again, or the event was before the wait.
var awaitedKey = layout.MetaKey("awaited")

// Await has the transactions in which events of a name happen find out who waits for them (Awaited), on all servers. The list only
// grows: an event too many costs a look at a table.
func Await(t *Tx, event string) error {
	if event == "" || strings.ContainsRune(event, '\n') {
		return fault.Invalid.Errorf("event %q: not a name", event)
	}
	known, err := Awaited(t, event)
	if err != nil || known {
		return err
	}
	all, err := t.kv.Get(awaitedKey)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		all = []byte{'\n'}
	}
	return t.kv.Set(awaitedKey, append(bytes.Clone(all), event+"\n"...))
}

// Awaited reports whether anything has ever waited for an event of a name.
func Awaited(t *Tx, event string) (bool, error) {
	all, err := t.kv.Get(awaitedKey)
	return bytes.Contains(all, []byte("\n"+event+"\n")), err
}
