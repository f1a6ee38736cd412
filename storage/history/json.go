package history

import (
	"encoding/base64"
	"strconv"
	"time"

	"catena/storage/schema"
)

// Every run that went well is encoded, so that its rows are appended here: encoding/json takes six times as long.

// appendJSON appends the run as encoding/json writes it.
func (r *Run) appendJSON(b []byte) ([]byte, error) {
	text := func(name, value string) { b = schema.AppendString(append(b, name...), value) }
	some := func(name, value string) {
		if value != "" {
			text(name, value)
		}
	}
	number := func(name string, value int64) { b = strconv.AppendInt(append(b, name...), value, 10) }
	text(`{"ID":`, r.ID)
	text(`,"Owner":`, r.Owner)
	if r.OwnerID != 0 {
		number(`,"OwnerID":`, r.OwnerID)
	}
	text(`,"Repository":`, r.Repository)
	text(`,"Op":`, r.Op)
	if r.Version != 0 {
		number(`,"Version":`, r.Version)
	}
	text(`,"Door":`, r.EntryPoint)
	some(`,"Request":`, r.Request)
	if r.Remote.IsValid() {
		b = append(r.Remote.AppendTo(append(b, `,"Remote":"`...)), '"')
	}
	some(`,"Repeats":`, r.Repeats)
	some(`,"Began":`, r.Began)
	b, err := appendTime(append(b, `,"Start":`...), r.Start)
	if err != nil {
		return nil, err
	}
	number(`,"Duration":`, int64(r.Duration))
	if r.Internal {
		b = append(b, `,"Internal":true`...)
	}
	some(`,"Code":`, r.Code)
	some(`,"Error":`, r.Error)
	some(`,"StoppedBy":`, r.StoppedBy)
	if b, err = appendTime(append(b, `,"expires":`...), r.Expires); err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

func appendTime(b []byte, t time.Time) ([]byte, error) {
	b, err := t.AppendText(append(b, '"'))
	return append(b, '"'), err
}

// appendJSON appends the row as encoding/json writes it.
func (p *packed) appendJSON(b []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, `{"Z":"`...), p.Z), `"}`...)
}
