package storage

import (
	"strings"
	"time"

	"catena/storage/fault"
	"catena/storage/internal/layout"
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
func (t *Tx) Fire(event string, d *Doc, extra map[string]any) error {
	if event == "" {
		return fault.Invalid.Errorf("event: the name is missing").In("event")
	}
	if d != nil {
		if err := t.need(d, permRead); err != nil {
			return err
		}
	}
	return t.fire(Event{Name: event, Doc: d, Extra: extra})
}

func (t *Tx) fire(e Event) error {
	announces := strings.HasPrefix(e.Name, "aboutTo") || strings.HasPrefix(e.Name, "before")
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
	t.depth++
	defer func() { t.depth-- }()
	for _, fn := range t.repo.listeners {
		if err := fn(t, e); err != nil {
			return err
		}
	}
	return nil
}
