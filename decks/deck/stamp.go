package deck

import (
	"time"

	"catena/storage"
)

// Stamp writes an instant as the service does.
func Stamp(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// StampOrNone is Stamp, and null for the zero instant.
func StampOrNone(at time.Time) any {
	if at.IsZero() {
		return nil
	}
	return Stamp(at)
}

// InstantOf is a property that holds a moment, null without one.
func InstantOf(d *storage.Doc, xpath string) any {
	return StampOrNone(storage.Prop[time.Time](d, xpath))
}
