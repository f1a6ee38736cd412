package uisession

import (
	"maps"
	"slices"

	"catena/storage"
	"catena/storage/fault"
)

// shelf is what a user has in all conversations.
type shelf struct {
	Lists     map[string][]string `json:",omitempty"`
	Documents ByName              `json:",omitempty"`
}

func shelfOf(tx *storage.Tx) (at string, s *shelf, err error) {
	s = &shelf{Lists: map[string][]string{}, Documents: ByName{}}
	if at, err = keyPrefix(tx); err == nil {
		_, err = tx.Secret(shelves).Get(at, s)
	}
	return at, s, err
}

// Add puts documents at the end of a list of the principal's; those that are in it stay where they are. What is gone
// by then leaves the list.
func Add(tx *storage.Tx, list string, docs ...*storage.Doc) error {
	at, s, err := shelfOf(tx)
	if err != nil {
		return err
	}
	if s.Lists[list], err = there(tx, s.Lists[list]); err != nil {
		return err
	}
	for _, d := range docs {
		if !slices.Contains(s.Lists[list], d.ID()) {
			s.Lists[list] = append(s.Lists[list], d.ID())
		}
	}
	return s.keep(tx, at, list)
}

// there returns the ids of the documents that exist for the principal.
func there(tx *storage.Tx, ids []string) ([]string, error) {
	var left []string
	for _, id := range ids {
		_, err := tx.Doc(storage.Ref(id))
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		left = append(left, id)
	}
	return left, nil
}

func (s *shelf) keep(tx *storage.Tx, at, list string) error {
	if n, most := len(s.Lists[list]), limitsOf(tx.Repo()).List; n > most {
		return fault.Limit.Errorf("list %s: %d documents, at most %d are allowed", list, n, most)
	}
	return put(tx, shelves, at, "lists of user "+tx.Principal().Name, s)
}

// Set gives a list of the principal's other documents; none remove it.
func Set(tx *storage.Tx, list string, docs ...*storage.Doc) error {
	at, s, err := shelfOf(tx)
	if err != nil {
		return err
	}
	delete(s.Lists, list)
	for _, d := range docs {
		if !slices.Contains(s.Lists[list], d.ID()) {
			s.Lists[list] = append(s.Lists[list], d.ID())
		}
	}
	return s.keep(tx, at, list)
}

// Listed returns the documents in a list of the principal's which are there and may be read, in their order.
func Listed(tx *storage.Tx, list string) (storage.Docs, error) {
	_, s, err := shelfOf(tx)
	if err != nil {
		return nil, err
	}
	docs := storage.Docs{}
	for _, id := range s.Lists[list] {
		d, err := Readable(tx, id)
		if err != nil {
			return nil, err
		}
		if d != nil {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// Lists returns the lists of the principal's by name, as ids of documents that are there and may be read.
func Lists(tx *storage.Tx) (map[string][]string, error) {
	_, s, err := shelfOf(tx)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for name, ids := range s.Lists {
		out[name] = []string{}
		for _, id := range ids {
			d, err := Readable(tx, id)
			if err != nil {
				return nil, err
			}
			if d != nil {
				out[name] = append(out[name], id)
			}
		}
	}
	return out, nil
}

// Readable returns a document; nil if there is none, or the principal may not read it.
func Readable(tx *storage.Tx, id string) (*storage.Doc, error) {
	if id == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	d, err := tx.Doc(storage.Ref(id))
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Denied) {
		return nil, nil //nolint:nilnil // as said
	}
	return d, err
}

// Push gives a document a name in a scope of the session. The session is kept too.
func (s *Session) Push(tx *storage.Tx, scope Scope, name string, d *storage.Doc) error {
	if scope == User {
		at, own, err := shelfOf(tx)
		if err != nil {
			return err
		}
		own.Documents[name] = d.ID()
		if err := own.keep(tx, at, ""); err != nil {
			return err
		}
		return s.Keep(tx)
	}
	if s.Documents == nil {
		s.Documents = map[Scope]ByName{}
	}
	if s.Documents[scope] == nil {
		s.Documents[scope] = ByName{}
	}
	s.Documents[scope][name] = d.ID()
	return s.Keep(tx)
}

// Pushed returns the ids of documents by name, for each scope that has some.
func (s *Session) Pushed(tx *storage.Tx) (map[Scope]ByName, error) {
	_, own, err := shelfOf(tx)
	if err != nil {
		return nil, err
	}
	out := map[Scope]ByName{}
	maps.Copy(out, s.Documents)
	if len(own.Documents) > 0 {
		out[User] = own.Documents
	}
	return out, nil
}
