package entity

import (
	"slices"
	"strings"

	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/schema"
)

// maxParents bounds how many entries are written within one another.
// It also ends a chain of parents that leads back to where it began.
const maxParents = 20

// directoryEntry appends an entry of a directory. fetch.directoryEntry resolves its parent,
// translate.directoryEntry puts the text of a language in place of a label's key.
func (w *writer) directoryEntry(dst []byte, e *record.Entry, level int) ([]byte, error) {
	return w.entryCalled(dst, e, e.ID, level)
}

func (w *writer) entryCalled(dst []byte, e *record.Entry, id string, level int) ([]byte, error) {
	dst = schema.AppendString(append(dst, `{"entity-type":"directoryEntry","directoryName":`...), e.Directory.Name)
	dst = schema.AppendString(append(dst, `,"id":`...), id)
	dst = append(dst, `,"properties":{`...)
	for i, f := range e.Directory.Schema.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(schema.AppendString(dst, f.Name), ':')
		v := e.Values[f.Name]
		text, isText := v.(string)
		switch {
		case isText && w.c.Tx != nil && slices.Contains(w.o.Translate["directoryEntry"], f.Name):
			text = record.Registry(w.c.Tx).Text(w.o.Language, text)
			dst = schema.AppendString(dst, text)
		case isText && f.Name == "parent" && level < maxParents && slices.Contains(w.o.Fetch["directoryEntry"], "parent"):
			var err error
			if dst, err = w.reference(dst, e.Directory.Parent, text, level+1); err != nil {
				return nil, err
			}
		default:
			dst = f.AppendJSON(dst, v, nil)
		}
	}
	return append(dst, '}', '}'), nil
}

// reference appends the entry that text refers to, in a directory; what refers to nothing
// stays text. Text may be the path of an entry in a hierarchy: "europe/France".
func (w *writer) reference(dst []byte, name, text string, level int) ([]byte, error) {
	if w.c.Tx == nil || text == "" {
		return schema.AppendString(dst, text), nil
	}
	d, err := record.In(w.c.Tx, name)
	if err != nil {
		return schema.AppendString(dst, text), nil //nolint:nilerr // what refers to nothing stays text
	}
	e, err := d.Entry(text)
	if i := strings.LastIndexByte(text, '/'); i >= 0 && d.Parent != "" && fault.Is(err, fault.NotFound) {
		e, err = d.Entry(text[i+1:])
	}
	if fault.Is(err, fault.NotFound) {
		return schema.AppendString(dst, text), nil
	}
	if err != nil {
		return nil, err
	}
	return w.entryCalled(dst, e, text, level)
}

// directoryEntries appends a part of a directory.
func (w *writer) directoryEntries(dst []byte, p *record.Page) ([]byte, error) {
	dst = appendPaging(append(dst, `{"entity-type":"directoryEntries",`...), &p.Page, len(p.Entries))
	dst = append(dst, `"entries":[`...)
	for i, e := range p.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = w.directoryEntry(dst, e, 0); err != nil {
			return nil, err
		}
	}
	return append(dst, ']', '}'), nil
}
