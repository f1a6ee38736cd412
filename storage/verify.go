package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"catena/storage/blob"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/limit"

	"golang.org/x/sync/errgroup"
)

const maxProblems = 1000

// FileCheck is informed of a file of a document.
type FileCheck func(t *Tx, d *Doc, xpath string, b *Blob)

// VerifyRows reads all rows and reports what does not fit together: damaged values, documents without a place, places
// without a document or out of the tree, missing access lists. Contents are not read: file is called with each file of
// a document that has no row of its own, and counted once for each document, one call after the other. Each part of the
// work has a snapshot of its own, so that all processors take part.
func (i RepoInternal) VerifyRows(ctx context.Context, file FileCheck, counted func()) (problems []string, err error) {
	parts := []func(ctx context.Context) ([]string, error){i.r.damagedRows}
	for _, part := range []func(*verifier) error{(*verifier).records, (*verifier).nodes, (*verifier).children, (*verifier).owned, (*verifier).indexes} {
		parts = append(parts, func(ctx context.Context) (problems []string, err error) {
			err = i.r.View(ctx, i.r.System(), func(t *Tx) error {
				v := verifier{t: t, file: file, counted: counted}
				err := part(&v)
				problems = v.problems
				return err
			})
			return problems, err
		})
	}
	found := make([][]string, len(parts))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(limit.Processors)
	for n, part := range parts {
		work.Go(func() (err error) {
			found[n], err = part(ctx)
			return err
		})
	}
	err = work.Wait()
	problems = slices.Concat(found...)
	return problems[:min(len(problems), maxProblems)], err
}

// damagedRows returns the rows whose values do not have their checksum.
func (r *Repo) damagedRows(ctx context.Context) (problems []string, err error) {
	report, err := r.db.Verify(ctx, nil)
	for _, key := range report.Damaged {
		problems = append(problems, fmt.Sprintf("key %q: value is damaged", key))
	}
	if errors.Is(err, kv.ErrDamaged) {
		err = nil
	}
	return problems, err
}

type verifier struct {
	t        *Tx
	problems []string
	file     FileCheck
	counted  func()
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

func (v *verifier) records() error { return v.each(layout.RecordSpace, v.record) }

func (v *verifier) nodes() error { return v.each(layout.NodeSpace, v.checkNode) }

func (v *verifier) children() error { return v.each(layout.ChildSpace, v.child) }

func (v *verifier) owned() error { return v.t.verifyOwned(v.add) }

// buried reports whether a document without a way to the root waits to be swept.
func (v *verifier) buried(id layout.ID) bool {
	for range deepest {
		if v.has(layout.GoneKey(id)) {
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

// record checks the record of a document: that it can be decoded down to each property, that the document has a location and what it
// refers to exists, and that each of its files exists and is marked as used, without which a sweep would remove it.
func (v *verifier) record(key, value []byte) {
	var id layout.ID
	copy(id[:], key[1:])
	if !v.has(layout.NodeKey(id)) {
		v.add("document %s: has no location", id)
	}
	rec, err := v.t.repo.parseRecord(value)
	if err != nil {
		v.add("document %s: %v", id, err)
		return
	}
	if rec.target != layout.None && !v.has(layout.RecordKey(rec.target)) {
		v.add("document %s: refers to %s, which does not exist", id, rec.target)
	}
	d := &Doc{repo: v.t.repo, id: id, record: rec}
	for i := range d.blocks {
		for j := range d.blocks[i].shape.Fields {
			if _, err := d.blocks[i].get(v.t.repo, j); err != nil {
				v.add("document %s: %v", id, err)
			}
		}
	}
	v.counted()
	err = d.eachFile(func(xpath string, b *blob.Blob) error {
		if b.Size > layout.InlineSize || !v.has(layout.InlineKey(b.Digest)) {
			v.file(v.t, d, xpath, b)
		}
		if !v.has(layout.BlobRefKey(b.Digest, id)) {
			v.add("document %s: content %s is not marked as used", id, b.Digest)
		}
		return nil
	})
	if err != nil {
		v.add("document %s: %v", id, err)
	}
}

func (v *verifier) checkNode(key, value []byte) {
	var id layout.ID
	copy(id[:], key[1:])
	n, err := parseNode(value)
	if err != nil {
		v.add("document %s: %v", id, err)
		return
	}
	if n.flags&layout.Tomb == 0 && !v.has(layout.RecordKey(id)) {
		v.add("document %s: has a location but no record", id)
	}
	if n.acl != (layout.ListID{}) && !v.has(layout.ListKey(n.acl)) {
		v.add("document %s: access list is missing", id)
	}
	switch {
	case id == v.t.repo.root || n.flags&layout.Tomb != 0:
	case n.flags&layout.Version != 0:
		if !v.has(layout.NodeKey(n.parent)) && !v.buried(n.parent) {
			v.add("document %s: is a version of %s, which does not exist", id, n.parent)
		}
	default:
		v.inTree(id, n)
	}
}

// inTree checks that a document can be reached from the root in the three ways there are: through its ancestors, by its
// name and in the order of its siblings.
func (v *verifier) inTree(id layout.ID, n node) {
	f, err := v.t.folder(id)
	if err != nil || f == nil && !v.buried(n.parent) {
		v.add("document %s: is not below the root", id)
	}
	if child, err := v.t.childID(n.parent, n.name); err != nil || child != id {
		v.add("document %s: cannot be found by its name", id)
	}
	if !v.has(layout.ChildPositionKey(n.parent, n.position, id)) {
		v.add("document %s: is not in the order of its siblings", id)
	}
}

// child looks at a row by which a folder knows a child: it leads to one that is there, and each has
// one row with its name and one with its position.
func (v *verifier) child(key, value []byte) {
	id, says := childOf(value), "listed as a child"
	if key[1] == layout.ChildByPosition {
		_, id = layout.PositionAndID(key)
		says = "in the order of a folder"
	}
	n, err := v.t.node(id)
	switch {
	case err != nil: // and is known by its place
		return
	case n == nil:
		v.add("document %s: is %s but has no location", id, says)
		return
	}
	own, fits := layout.ChildNameKey(n.parent, n.name), bytes.Equal(value, childValue(n.flags, id))
	if key[1] == layout.ChildByPosition {
		own = layout.ChildPositionKey(n.parent, n.position, id)
		flags, acl, typ := v.t.repo.numbers.ParseChild(value)
		fits = flags == n.flags && acl == n.acl && (typ == nil || v.isOf(id, typ))
	}
	switch {
	case n.flags&(layout.Tomb|layout.Version) != 0 || !bytes.Equal(key, own):
		v.add("document %s: is %s in the wrong place", id, says)
	case !fits:
		v.add("document %s: is %s with wrong values", id, says)
	}
}

// isOf reports whether a document that has a record is of a type.
func (v *verifier) isOf(id layout.ID, typ []byte) bool {
	rec, err := v.t.kv.Get(layout.RecordKey(id))
	return err != nil || rec == nil || bytes.Equal(layout.RecordType(rec), typ)
}
