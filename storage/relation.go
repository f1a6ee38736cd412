package storage

import (
	"cmp"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

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

// Relate adds a relation. One that is there already is an error of the kind Exists.
func (t *Tx) Relate(subject *Doc, predicate string, object *Doc) error {
	if err := t.mayRelate(subject, predicate, object); err != nil {
		return err
	}
	key := relationKey(relationFrom, subject.id, predicate, object.id)
	old, err := t.kv.Get(key)
	if err != nil {
		return err
	}
	if old != nil {
		return fault.Exists.Errorf("relation %s: document %s has it to %s already", predicate, subject.ID(), object.ID())
	}
	if err := cmp.Or(t.roomForRelation(relationFrom, subject.id, object.id), t.roomForRelation(relationTo, object.id, subject.id)); err != nil {
		return err
	}
	return t.relation("Creation", subject, predicate, object, func() error {
		note := layout.AppendText(nil, t.Actor())
		if err := t.kv.Set(key, kv.AppendInt64(note, t.now.UnixMilli())); err != nil {
			return err
		}
		return t.kv.Set(relationKey(relationTo, object.id, predicate, subject.id), []byte{})
	})
}

// Unrelate ends a relation; there need not be one.
func (t *Tx) Unrelate(subject *Doc, predicate string, object *Doc) error {
	if err := t.mayRelate(subject, predicate, object); err != nil {
		return err
	}
	key := relationKey(relationFrom, subject.id, predicate, object.id)
	old, err := t.kv.Get(key)
	if err != nil || old == nil {
		return err
	}
	return t.relation("Removal", subject, predicate, object, func() error {
		if err := t.kv.Delete(key); err != nil {
			return err
		}
		return t.kv.Delete(relationKey(relationTo, object.id, predicate, subject.id))
	})
}

// relation changes a relation between the events that tell about it.
func (t *Tx) relation(what string, subject *Doc, predicate string, object *Doc, change func() error) error {
	extra := map[string]any{"predicate": predicate, "object": object.ID()}
	if err := t.fire(Event{Name: "beforeRelation" + what, Doc: subject, Extra: extra}); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	t.Changed("record", "relation "+predicate+" "+subject.ID()+" "+object.ID())
	return t.fire(Event{Name: "afterRelation" + what, Doc: subject, Extra: extra})
}

func (t *Tx) mayRelate(subject *Doc, predicate string, object *Doc) error {
	if err := t.MayWrite(); err != nil {
		return err
	}
	switch {
	case subject == nil || object == nil || !subject.saved || !object.saved:
		return fault.Invalid.Errorf("relation %s: of a document that does not exist yet", predicate)
	case predicate == "":
		return fault.Invalid.Errorf("predicate: is empty").In("predicate")
	case len(predicate) > maxPredicate:
		return fault.Limit.Errorf("predicate: %d bytes, limit %d", len(predicate), maxPredicate).In("predicate")
	}
	from, err := t.visible(subject.id, subject.Ref())
	if err != nil {
		return err
	}
	to, err := t.visible(object.id, object.Ref())
	if err != nil || t.can(to, permWriteProperties) {
		return err
	}
	return t.need(from, permWriteProperties)
}

// Related returns the readable documents that d has a relation to, or that have one to d; an
// empty predicate means any.
func (t *Tx) Related(d *Doc, predicate string, outgoing bool) (Docs, error) {
	if err := t.need(d, permRead); err != nil {
		return nil, err
	}
	side := byte(relationTo)
	if outgoing {
		side = relationFrom
	}
	ids, err := t.related(side, d.id, predicate)
	if err != nil {
		return nil, err
	}
	if len(ids) > t.repo.limits.Related {
		return nil, errRelated(d.id, t.repo.limits.Related)
	}
	docs, err := t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	return t.readable(docs), nil
}

// related returns the documents on the other side of the relations of one, one more than there may be at most.
func (t *Tx) related(side byte, of layout.ID, predicate string) (ids []layout.ID, err error) {
	key := relationPrefix(side, of)
	if predicate != "" {
		key = kv.AppendString(key, predicate)
	}
	r := prefix(key)
	r.KeysOnly = true
	seen := map[layout.ID]bool{}
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, err
		}
		if id := layout.IDAtEnd(row.Key); !seen[id] {
			seen[id] = true
			if ids = append(ids, id); len(ids) > t.repo.limits.Related {
				break
			}
		}
	}
	return ids, nil
}

// roomForRelation refuses a document more on the other side of the relations of one.
func (t *Tx) roomForRelation(side byte, of, other layout.ID) error {
	ids, err := t.related(side, of, "")
	if err != nil || len(ids) < t.repo.limits.Related || slices.Contains(ids, other) {
		return err
	}
	return errRelated(of, t.repo.limits.Related)
}

func errRelated(of layout.ID, limit int) error {
	return fault.Limit.Errorf("document %s: related to more than %d documents", of, limit)
}

// eraseRelations removes the relations of a document that is erased.
func (t *Tx) eraseRelations(id layout.ID) error {
	for _, side := range []byte{relationFrom, relationTo} {
		base := relationPrefix(side, id)
		r := prefix(base)
		r.KeysOnly = true
		for row, err := range t.kv.Scan(r) {
			if err != nil {
				return err
			}
			predicate, _, err := kv.DecodeString(row.Key[len(base):])
			if err != nil {
				return err
			}
			other := relationKey(relationFrom+relationTo-side, layout.IDAtEnd(row.Key), predicate, id)
			if err := t.kv.Delete(other); err != nil {
				return err
			}
			if err := t.kv.Delete(row.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

// relation checks that both documents of a relation exist and that it is found from either.
func (v *verifier) relation(key, _ []byte) {
	side := key[1]
	var id layout.ID
	copy(id[:], key[2:])
	other := layout.IDAtEnd(key)
	predicate, _, err := kv.DecodeString(key[18:])
	if err != nil {
		v.add("relation %q: %v", key, err)
		return
	}
	if !v.has(layout.PlaceKey(id)) {
		v.add("document %s: has a relation but no place", id)
	}
	if !v.has(relationKey(relationFrom+relationTo-side, other, predicate, id)) {
		v.add("document %s: relation %s to %s is not found from there", id, predicate, other)
	}
}
