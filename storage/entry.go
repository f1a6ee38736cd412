package storage

import (
	"encoding/binary"
	"encoding/json"

	"catena/storage/fault"
	"catena/storage/internal/layout"
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
