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
)

const maxProblems = 1000

// Verify reads all rows and returns what does not fit together: damaged values, documents without a
// place, places without a document or out of the tree, missing access lists and contents. Contents are not read.
func (r *Repo) Verify(ctx context.Context) (problems []string, err error) {
	c, err := r.ListContents(ctx)
	if err != nil {
		return nil, err
	}
	report, err := r.VerifyWith(ctx, c, nil)
	for _, d := range report.Damage {
		report.Problems = append(report.Problems, d.String())
	}
	return report.Problems, err
}

// Report is what a verification has found.
type Report struct {
	Problems []string // except for those of content
	Damage   []Damage // of content
}

// VerifyWith is Verify with the contents that were listed or read before.
func (r *Repo) VerifyWith(ctx context.Context, c *Contents, p Progress) (out Report, err error) {
	report, err := r.db.Verify(ctx, nil)
	for _, key := range report.Damaged {
		out.Problems = append(out.Problems, fmt.Sprintf("key %q: value is damaged", key))
	}
	if err != nil && !errors.Is(err, kv.ErrDamaged) {
		return out, err
	}
	err = r.View(ctx, r.System(), func(t *Tx) error {
		v := verifier{t: t, contents: c, report: Report{Problems: slices.Clone(out.Problems)}, progress: p}
		err := v.run()
		if err == nil && !r.part {
			err = v.unowned()
		}
		out = v.report
		return err
	})
	return out, err
}

type verifier struct {
	t        *Tx
	contents *Contents
	report   Report
	progress Progress
}

func (v *verifier) add(format string, args ...any) {
	if len(v.report.Problems) < maxProblems {
		v.report.Problems = append(v.report.Problems, fmt.Sprintf(format, args...))
	}
}

// damage adds that a document has damaged content.
func (v *verifier) damage(d *Doc, xpath, digest, problem string) {
	found := Damage{Repository: v.t.repo.name, ID: d.ID(), XPath: xpath, Digest: digest, Problem: problem}
	if whole, err := v.t.load(d.id); err == nil && whole != nil {
		found.Path = whole.Path()
	}
	if len(v.report.Damage) < maxProblems {
		v.report.Damage = append(v.report.Damage, found)
	}
}

// unowned adds damaged content that something other than a document refers to.
func (v *verifier) unowned() error {
	for digest, problem := range v.contents.problems {
		ids, err := v.t.referring(digest)
		if err != nil {
			return err
		}
		owned := len(ids) == 0
		for _, one := range v.t.repo.all() {
			if owned {
				break
			}
			err := one.View(v.t.ctx, one.System(), func(t *Tx) error {
				for _, id := range ids {
					owned = owned || v.hasIn(t, id)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if !owned {
			v.report.Damage = append(v.report.Damage, Damage{Digest: digest, Problem: problem})
		}
	}
	return nil
}

func (v *verifier) hasIn(t *Tx, id layout.ID) bool {
	b, err := t.kv.Get(layout.RecordKey(id))
	return err == nil && b != nil
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
	if err := v.each(layout.RecordSpace, v.record); err != nil {
		return err
	}
	if err := v.each(layout.PlaceSpace, v.place); err != nil {
		return err
	}
	if err := v.each(layout.ChildSpace, v.child); err != nil {
		return err
	}
	if err := v.t.verifyOwned(v.add); err != nil {
		return err
	}
	return v.indexes()
}

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

func (v *verifier) record(key, value []byte) {
	var id layout.ID
	copy(id[:], key[1:])
	if !v.has(layout.PlaceKey(id)) {
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
	v.progress.add(1, 0)
	err = d.eachFile(func(xpath string, b *blob.Blob) error {
		size, there := v.contents.sizes[b.Digest]
		switch problem := v.contents.problems[b.Digest]; {
		case b.Size <= smallContent && v.has(smallKey(b.Digest)):
		case problem != "":
			v.damage(d, xpath, b.Digest, problem)
		case there && size != b.Size:
			v.damage(d, xpath, b.Digest, fmt.Sprintf("has %d bytes instead of %d", size, b.Size))
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

func (v *verifier) place(key, value []byte) {
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
		return
	case n.flags&layout.Version != 0:
		if !v.has(layout.PlaceKey(n.parent)) && !v.buried(n.parent) {
			v.add("document %s: is a version of %s, which does not exist", id, n.parent)
		}
		return
	}
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
