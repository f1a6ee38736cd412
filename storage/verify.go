package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"catena/storage/blob"
	"catena/storage/kv"
)

const maxProblems = 1000

// Verify reads everything and returns what does not fit together: damaged values, documents without a
// place, places without a document or out of the tree, missing access lists and contents.
func (r *Repo) Verify(ctx context.Context) (problems []string, err error) {
	report, err := r.db.Verify(ctx, nil)
	for _, key := range report.Damaged {
		problems = append(problems, fmt.Sprintf("key %q: value is damaged", key))
	}
	if err != nil && !errors.Is(err, kv.ErrDamaged) {
		return problems, err
	}
	err = r.View(ctx, r.System(), func(t *Tx) error {
		v := verifier{t: t, contents: map[string]int64{}, problems: problems}
		err := r.blobs.Each(ctx, func(digest string, size int64, _ time.Time) error {
			v.contents[digest] = size
			return nil
		})
		if err == nil {
			err = v.run()
		}
		problems = v.problems
		return err
	})
	return problems, err
}

type verifier struct {
	t        *Tx
	contents map[string]int64 // sizes of those that are no rows: a list is asked for once, and not each of them
	problems []string
}

func (v *verifier) add(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

func (v *verifier) each(space byte, fn func(key, value []byte)) error {
	for row, err := range v.t.kv.Scan(prefix([]byte{space})) {
		if err != nil {
			return err
		}
		if err := v.t.ctx.Err(); err != nil {
			return err
		}
		fn(row.Key, row.Value)
	}
	return nil
}

func (v *verifier) run() error {
	if err := v.each(spaceRecord, v.record); err != nil {
		return err
	}
	if err := v.each(spaceTree, v.place); err != nil {
		return err
	}
	if err := v.each(spaceChild, v.child); err != nil {
		return err
	}
	if err := v.each(spaceRelation, v.relation); err != nil {
		return err
	}
	return v.indexes()
}

// buried reports whether a document without a way to the root waits to be swept.
func (v *verifier) buried(id docID) bool {
	for range deepest {
		if v.has(goneKey(id)) {
			return true
		}
		n, err := v.t.node(id)
		if err != nil || n == nil {
			return false
		}
		id = n.parent
	}
	return false
}

func (v *verifier) has(key []byte) bool {
	b, err := v.t.kv.Get(key)
	return err == nil && b != nil
}

func (v *verifier) record(key, value []byte) {
	var id docID
	copy(id[:], key[1:])
	if !v.has(treeKey(id)) {
		v.add("document %s: has no place", id)
	}
	rec, err := v.t.repo.parseRecord(value)
	if err != nil {
		v.add("document %s: %v", id, err)
		return
	}
	if rec.target != none && !v.has(recordKey(rec.target)) {
		v.add("document %s: refers to %s, which is gone", id, rec.target)
	}
	d := &Doc{repo: v.t.repo, id: id, record: rec}
	for i := range d.blocks {
		for j := range d.blocks[i].shape.Fields {
			if _, err := d.blocks[i].get(v.t.repo, j); err != nil {
				v.add("document %s: %v", id, err)
			}
		}
	}
	err = d.eachBlob(func(b *blob.Blob) error {
		switch size, there := v.contents[b.Digest]; {
		case v.has(smallKey(b.Digest)):
		case !there:
			v.add("document %s: content %s is missing", id, b.Digest)
		case size != b.Size:
			v.add("document %s: content %s has %d bytes instead of %d", id, b.Digest, size, b.Size)
		}
		if !v.has(blobRefKey(b.Digest, id)) {
			v.add("document %s: content %s is not marked as needed", id, b.Digest)
		}
		return nil
	})
	if err != nil {
		v.add("document %s: %v", id, err)
	}
}

func (v *verifier) place(key, value []byte) {
	var id docID
	copy(id[:], key[1:])
	n, err := parseNode(value)
	if err != nil {
		v.add("document %s: %v", id, err)
		return
	}
	if n.flags&flagTomb == 0 && !v.has(recordKey(id)) {
		v.add("document %s: has a place but no record", id)
	}
	if n.acl != (aclID{}) && !v.has(aclKey(n.acl)) {
		v.add("document %s: access list is missing", id)
	}
	switch {
	case id == v.t.repo.root || n.flags&flagTomb != 0:
		return
	case n.flags&flagVersion != 0:
		if !v.has(treeKey(n.parent)) && !v.buried(n.parent) {
			v.add("document %s: is a version of %s, which is gone", id, n.parent)
		}
		return
	}
	f, err := v.t.folder(id)
	if err != nil || f == nil && !v.buried(n.parent) {
		v.add("document %s: is not below the root", id)
	}
	if child, err := v.t.childID(n.parent, n.name); err != nil || child != id {
		v.add("document %s: is not found by its name", id)
	}
	if !v.has(childPositionKey(n.parent, n.position, id)) {
		v.add("document %s: is not in the order of its siblings", id)
	}
}

// child looks at a row by which a folder knows a child: it leads to one that is there, and each has
// one row with its name and one with its position.
func (v *verifier) child(key, value []byte) {
	id, says := childOf(value), "listed as a child"
	if key[1] == childByPosition {
		_, id = positionAndID(key)
		says = "in the order of a folder"
	}
	n, err := v.t.node(id)
	switch {
	case err != nil: // and is known by its place
		return
	case n == nil:
		v.add("document %s: is %s but has no place", id, says)
		return
	}
	own, fits := childNameKey(n.parent, n.name), bytes.Equal(value, childValue(n.flags, id))
	if key[1] == childByPosition {
		own = childPositionKey(n.parent, n.position, id)
		flags, acl, typ := v.t.repo.numbers.parseChild(value)
		fits = flags == n.flags && acl == n.acl && (typ == nil || v.isOf(id, typ))
	}
	switch {
	case n.flags&(flagTomb|flagVersion) != 0 || !bytes.Equal(key, own):
		v.add("document %s: is %s where it is not", id, says)
	case !fits:
		v.add("document %s: is %s as what it is not", id, says)
	}
}

// isOf reports whether a document that has a record is of a type.
func (v *verifier) isOf(id docID, typ []byte) bool {
	rec, err := v.t.kv.Get(recordKey(id))
	return err != nil || rec == nil || bytes.Equal(recordType(rec), typ)
}
