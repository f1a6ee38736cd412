package lines

import (
	"path"
	"strings"

	"catena/storage/jsontext"
)

// Links are what records of documents may depend on each other by: names, and values of the property that identifies them.
type Links struct {
	makes map[string]bool // of the documents that the records are of
	names map[string]bool // those, and the names in the paths of parents
}

// Meet reports whether one of these records may depend on one of the others, whichever comes first: on its folder, or on the document
// itself.
func (l *Links) Meet(other *Links) bool {
	return some(l.makes, other.names) || some(other.makes, l.names)
}

func some(of, in map[string]bool) bool {
	for k := range of {
		if in[k] {
			return true
		}
	}
	return false
}

// valued tells values of the property that identifies documents from names, which have no such byte.
const valued = "\x00"

// Loading is what records say nothing about.
type Loading struct {
	Into, Key string // the folder for records that name none, and the property that identifies documents
	// Name is the name that a document gets which is made with a name and a title.
	Name func(name, title string) (string, error)
}

// Links reads what records may depend on each other by. A record that is invalid depends on nothing.
func (l *Loading) Links(records []Record) *Links {
	k := &Links{makes: make(map[string]bool, 2*len(records)), names: make(map[string]bool, 2*len(records))}
	add := func(text string, makes bool) {
		if k.names[text] = true; makes {
			k.makes[text] = true
		}
	}
	for i := range records {
		if records[i].Err != nil {
			continue
		}
		r := subjectOf(records[i].JSON, l.Key)
		name, err := l.Name(r.name, r.title)
		if err != nil {
			continue
		}
		add(name, true)
		if r.value != "" { // indexes have texts in lower case
			add(valued+strings.ToLower(strings.TrimSpace(r.value)), true)
		}
		// A folder that is made may come with folders of its own, so that its path is looked at as a whole.
		at := strings.TrimSpace(r.parent)
		if !strings.HasPrefix(at, "/") {
			at = l.Into + "/" + at
		}
		for name := range strings.SplitSeq(path.Clean(at), "/") {
			add(name, false)
		}
	}
	return k
}

// subject is what identifies the document of a record, and its folder.
type subject struct{ name, title, parent, value string }

func subjectOf(record []byte, key string) (out subject) {
	s := jsontext.Scanner{Data: record}
	var member func(name []byte) error
	member = func(name []byte) error {
		inside := string(name) == "properties" && s.Peek() == '{'
		if inside {
			return s.Members(member)
		}
		text, err := text(&s)
		switch string(name) {
		case "name":
			out.name = text
		case "parent":
			out.parent = text
		case "dc:title":
			out.title = text
		}
		if string(name) == key {
			out.value = text
		}
		return err
	}
	_ = s.Members(member) // it was checked before
	return out
}

// text reads a value: what is no text as it is written, for it may be made one.
func text(s *jsontext.Scanner) (string, error) {
	if s.Peek() == '"' {
		b, err := s.Text()
		return string(b), err
	}
	raw, err := s.Skip(1)
	if string(raw) == "null" {
		raw = nil
	}
	return string(raw), err
}
