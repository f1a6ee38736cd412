// Package relation keeps relations, which are named statements that one document is related to another.
//
// Each relation has two rows, one under its subject and one under its object, so that both can list their relations without
// an index. Only the row of the subject says who created it and when. Both are written and deleted together, also when one
// of the documents is erased.
package relation

import (
	"cmp"
	"slices"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/limit"
)

// Limits bound relations; zero values take the defaults.
type Limits struct {
	Documents int `setting:"limit-related" default:"1000" doc:"documents that one document is related to"`
}

func most(t *storage.Tx) int { return limit.Of[Limits](t.Repo().Bounds()).Documents }

// A relation says that one document (the subject) is related to another (the object) in a way
// (the predicate, any text). It has a row from either side and goes with either document. Who
// may read both and change the properties of one of them makes and ends relations.

const (
	relationFrom = 1
	relationTo   = 2

	// maxPredicate is the number of bytes of a predicate.
	maxPredicate = 500
)

func relationPrefix(side byte, id layout.ID) []byte {
	return append([]byte{layout.RelationSpace, side}, id[:]...)
}

func relationKey(side byte, id layout.ID, predicate string, other layout.ID) []byte {
	return append(kv.AppendString(relationPrefix(side, id), predicate), other[:]...)
}

// Add adds a relation. One that is there already is an error of the kind Exists.
func Add(t *storage.Tx, subject *storage.Doc, predicate string, object *storage.Doc) error {
	if err := mayChange(t, subject, predicate, object); err != nil {
		return err
	}
	key := relationKey(relationFrom, idOf(t, subject), predicate, idOf(t, object))
	old, err := kvOf(t).Get(key)
	if err != nil {
		return err
	}
	if old != nil {
		return fault.Exists.Errorf("relation %s: document %s already has it to %s", predicate, subject.ID(), object.ID())
	}
	if err := cmp.Or(room(t, relationFrom, idOf(t, subject), idOf(t, object)), room(t, relationTo, idOf(t, object), idOf(t, subject))); err != nil {
		return err
	}
	return (&link{subject, object, predicate}).change(t, "Creation", func() error {
		note := layout.AppendText(nil, t.Actor())
		if err := kvOf(t).Set(key, kv.AppendInt64(note, t.Now().UnixMilli())); err != nil {
			return err
		}
		return kvOf(t).Set(relationKey(relationTo, idOf(t, object), predicate, idOf(t, subject)), []byte{})
	})
}

// Remove ends a relation; there need not be one.
func Remove(t *storage.Tx, subject *storage.Doc, predicate string, object *storage.Doc) error {
	if err := mayChange(t, subject, predicate, object); err != nil {
		return err
	}
	key := relationKey(relationFrom, idOf(t, subject), predicate, idOf(t, object))
	old, err := kvOf(t).Get(key)
	if err != nil || old == nil {
		return err
	}
	return (&link{subject, object, predicate}).change(t, "Removal", func() error {
		if err := kvOf(t).Delete(key); err != nil {
			return err
		}
		return kvOf(t).Delete(relationKey(relationTo, idOf(t, object), predicate, idOf(t, subject)))
	})
}

// A link is a relation between two documents.
type link struct {
	subject, object *storage.Doc
	predicate       string
}

// change changes a relation between the events that announce and report it.
func (l *link) change(t *storage.Tx, what string, change func() error) error {
	extra := map[string]any{"predicate": l.predicate, "object": l.object.ID()}
	if err := inside(t).Fire(storage.Event{Name: "beforeRelation" + what, Doc: l.subject, Extra: extra}); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	storage.NoteChange(t, "record", "relation "+l.predicate+" "+l.subject.ID()+" "+l.object.ID())
	return inside(t).Fire(storage.Event{Name: "afterRelation" + what, Doc: l.subject, Extra: extra})
}

func mayChange(t *storage.Tx, subject *storage.Doc, predicate string, object *storage.Doc) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	switch {
	case subject == nil || object == nil || !subject.Saved() || !object.Saved():
		return fault.Invalid.Errorf("relation %s: the document does not exist yet", predicate)
	case predicate == "":
		return fault.Invalid.Errorf("predicate: must not be empty").In("predicate")
	case len(predicate) > maxPredicate:
		return fault.Limit.Errorf("predicate: %d bytes, limit %d", len(predicate), maxPredicate).In("predicate")
	}
	from, err := inside(t).Visible(idOf(t, subject))
	if err != nil {
		return err
	}
	to, err := inside(t).Visible(idOf(t, object))
	if err != nil || inside(t).Has(to, "WriteProperties") {
		return err
	}
	return inside(t).Need(from, "WriteProperties")
}

// Find returns the readable documents that d has a relation to, or that have one to d; an
// empty predicate means any.
func Find(t *storage.Tx, d *storage.Doc, predicate string, outgoing bool) (storage.Docs, error) {
	if err := inside(t).Need(d, "Read"); err != nil {
		return nil, err
	}
	side := byte(relationTo)
	if outgoing {
		side = relationFrom
	}
	ids, err := find(t, side, idOf(t, d), predicate)
	if err != nil {
		return nil, err
	}
	if len(ids) > most(t) {
		return nil, errTooMany(idOf(t, d), most(t))
	}
	return inside(t).Readable(ids)
}

// find returns the documents on the other side of the relations of one, one more than there may be at most.
func find(t *storage.Tx, side byte, of layout.ID, predicate string) (ids []layout.ID, err error) {
	key := relationPrefix(side, of)
	if predicate != "" {
		key = kv.AppendString(key, predicate)
	}
	rows := kv.Prefix(key)
	rows.KeysOnly = true
	seen := map[layout.ID]bool{}
	for r, err := range kvOf(t).Scan(rows) {
		if err != nil {
			return nil, err
		}
		if id := layout.IDAtEnd(r.Key); !seen[id] {
			seen[id] = true
			if ids = append(ids, id); len(ids) > most(t) {
				break
			}
		}
	}
	return ids, nil
}

// room refuses a document more on the other side of the relations of one.
func room(t *storage.Tx, side byte, of, other layout.ID) error {
	ids, err := find(t, side, of, "")
	if err != nil || len(ids) < most(t) || slices.Contains(ids, other) {
		return err
	}
	return errTooMany(of, most(t))
}

func errTooMany(of layout.ID, limit int) error {
	return fault.Limit.Errorf("document %s: is related to more than %d documents", of, limit)
}

// Owner keeps the relations of documents.
var Owner = storage.Owner{Name: "relation", Erase: erase, Verify: verify}

// erase removes the relations of a document that is erased.
func erase(t *storage.Tx, d *storage.Doc) error {
	id := idOf(t, d)
	for _, side := range []byte{relationFrom, relationTo} {
		base := relationPrefix(side, id)
		rows := func(id layout.ID) kv.Range {
			r := kv.Prefix(relationPrefix(side, id))
			r.KeysOnly = true
			return r
		}
		if err := inside(t).RowsAhead("relations "+string(side), id, rows); err != nil {
			return err
		}
		for r, err := range kvOf(t).Scan(rows(id)) {
			if err != nil {
				return err
			}
			predicate, _, err := kv.DecodeString(r.Key[len(base):])
			if err != nil {
				return err
			}
			other := relationKey(relationFrom+relationTo-side, layout.IDAtEnd(r.Key), predicate, id)
			if err := kvOf(t).Delete(other); err != nil {
				return err
			}
			if err := kvOf(t).Delete(r.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// Verify checks that both documents of each relation exist and that it is found from either.
func verify(t *storage.Tx, add func(format string, args ...any)) error {
	for r, err := range kvOf(t).Scan(kv.Prefix([]byte{layout.RelationSpace})) {
		if err != nil {
			return err
		}
		if err := t.Context().Err(); err != nil {
			return err
		}
		verifyRow(t, r.Key, add)
	}
	return nil
}

func verifyRow(t *storage.Tx, key []byte, add func(format string, args ...any)) {
	side := key[1]
	var id layout.ID
	copy(id[:], key[2:])
	other := layout.IDAtEnd(key)
	predicate, _, err := kv.DecodeString(key[18:])
	if err != nil {
		add("relation %q: %v", key, err)
		return
	}
	has := func(key []byte) bool {
		b, err := kvOf(t).Get(key)
		return err == nil && b != nil
	}
	if !has(layout.NodeKey(id)) {
		add("document %s: has a relation but no location", id)
	}
	if !has(relationKey(relationFrom+relationTo-side, other, predicate, id)) {
		add("document %s: relation %s to %s cannot be found from there", id, predicate, other)
	}
}

func inside(t *storage.Tx) storage.Internal { return t.Internal(row.Ordered{}) }

func kvOf(t *storage.Tx) *kv.Tx { return inside(t).KV() }

func idOf(t *storage.Tx, d *storage.Doc) layout.ID { return inside(t).ID(d) }
