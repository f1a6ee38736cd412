package storage

import (
	"encoding/binary"
	"encoding/json"

	"catena/storage/fault"
)

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
	id, doc := parseID(e.DocID)
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
	dst = appendText(appendText(dst, e.Event), e.User)
	if doc {
		dst = append(dst, id[:]...)
		dst = appendText(appendText(appendText(dst, e.DocPath), e.DocType), e.DocState)
	}
	if bits&entryOfDoc == 0 {
		dst = appendText(dst, e.Category)
	}
	if bits&entryBelated != 0 {
		dst = binary.AppendVarint(dst, e.Logged.UnixMilli())
	}
	if bits&entryCommented != 0 {
		dst = appendText(dst, e.Comment)
	}
	if bits&entryExtended == 0 {
		return dst, nil
	}
	b, err := json.Marshal(e.Extended)
	if err != nil {
		return nil, fault.Invalid.Errorf("audit entry %s: %w", e.Event, err)
	}
	return appendText(dst, string(b)), nil
}

// parse reads what append wrote and returns what follows.
func (e *Entry) parse(b []byte) (rest []byte, err error) {
	in := reader{b: b}
	head := in.take(2)
	if len(head) < 2 || head[0] != entryFormat && head[0] != entryAlone {
		return nil, fault.Internal.Errorf("audit row: of unknown form")
	}
	bits := head[1]
	*e = Entry{ID: in.varint(), Time: in.moment(), Event: in.text(), User: in.text(), Category: documentCategory, Source: "server"}
	if bits&entryDoc != 0 {
		e.DocID, e.DocPath, e.DocType, e.DocState = in.id().String(), in.text(), in.text(), in.text()
	}
	if bits&entryOfDoc == 0 {
		e.Category = in.text()
	}
	if bits&entryClient != 0 {
		e.Source = "client"
	}
	e.Logged = e.Time
	if bits&entryBelated != 0 {
		e.Logged = in.moment()
	}
	if bits&entryCommented != 0 {
		e.Comment = in.text()
	}
	if bits&entryExtended != 0 && !in.bad {
		var extended []byte
		if head[0] == entryAlone {
			extended = in.take(len(in.b))
		} else {
			extended = in.bytes()
		}
		if in.bad {
			return nil, errShortEntry()
		}
		if err := json.Unmarshal(extended, &e.Extended); err != nil {
			return nil, fault.Internal.Errorf("audit row: %w", err)
		}
	}
	if in.bad {
		return nil, errShortEntry()
	}
	return in.b, nil
}

func errShortEntry() error { return fault.Internal.Errorf("audit row: cut short") }
