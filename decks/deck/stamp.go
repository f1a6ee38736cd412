package deck

import (
	"time"

	"catena/storage"
)

// Stamp writes an instant as the service does.
func Stamp(at time.Time) string {
	at = at.UTC()
	// This layout is written without being read, in a fifth of the time of one with milliseconds.
	b := at.AppendFormat(make([]byte, 0, 32), time.RFC3339)
	ms := at.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'))
}

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
