package storage

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// edit returns d as it is now, to be changed by this transaction: the rows read here are guarded, so
// a right or a lock that changes meanwhile makes the transaction run again. What was set on d in
// memory stays on d; finish joins the two.
func (t *Tx) edit(d *Doc, p permission) (*Doc, error) {
	cur, err := t.editLocked(d, p)
	if err != nil {
		return nil, err
	}
	if cur.IsProxy() {
		return cur, nil // the lock is on what it shows
	}
	return cur, t.notLocked(cur)
}

// editLocked is edit for what a lock does not forbid.
func (t *Tx) editLocked(d *Doc, p permission) (*Doc, error) {
	if err := t.MayWrite(); err != nil {
		return nil, err
	}
	if d == nil || !d.saved {
		return nil, fault.Invalid.Errorf("document: does not exist yet")
	}
	cur, err := t.load(d.id)
	if err != nil {
		return nil, err
	}
	if cur == nil {
		return nil, notFound(d.Ref())
	}
	if err := t.need(cur, p); err != nil {
		return nil, err
	}
	if cur.IsVersion() {
		return nil, fault.Conflict.Errorf("document %s: a version cannot be changed", d.ID())
	}
	return cur, nil
}

func (t *Tx) notLocked(d *Doc) error {
	if d.lockOwner == "" || t.hasLock(d) || t.rights.admin {
		return nil
	}
	return fault.Denied.Errorf("document %s: locked by %s", d.ID(), d.lockOwner).WithCode(fault.CodeLocked)
}

// finish makes d what cur is, and keeps on it what was set and not saved.
func (t *Tx) finish(d, cur *Doc) *Doc {
	if d == cur {
		return d
	}
	cur.inherit(d)
	*d = *cur
	return d
}

// inherit sets on d what was set on the other and not saved.
func (d *Doc) inherit(other *Doc) {
	if other.facetsSet {
		d.setFacets(slices.Clone(other.facets))
	}
	for i := range other.blocks {
		for j, v := range other.blocks[i].pending {
			if b, at := d.field(other.blocks[i].shape.Fields[j].Key); b != nil {
				b.set(at, v)
			}
		}
	}
}

// putRecord writes the record of d; before is nil for a new document.
func (t *Tx) putRecord(before, d *Doc) error {
	if before == nil || d.textChanged() {
		if err := t.reindexText(d); err != nil {
			return err
		}
	}
	if d.IsProxy() {
		own := record{typ: d.typ, target: d.target, series: d.series}
		return t.kv.Set(layout.RecordKey(d.id), own.append(make([]byte, 0, 80)))
	}
	if err := t.changeOwned(before, d); err != nil {
		return err
	}
	if err := t.refer(before, d); err != nil {
		return err
	}
	if d.repo != t.repo {
		return fault.Conflict.Errorf("document %s: the types of documents have changed since it was read", d.ID())
	}
	size := 96
	for i := range d.blocks {
		if err := d.blocks[i].store(t.repo); err != nil {
			return fault.Wrap(err, "document %s", d.ID())
		}
		if d.blocks[i].raw != nil {
			size += d.blocks[i].size()
		}
	}
	if before != nil {
		d.system++
	}
	d.facetsSet = false
	key := layout.RecordKey(d.id)
	row := kv.AppendRow(make([]byte, 0, size+len(key)+4), key)
	row = d.record.append(row)
	if before == nil {
		return t.kv.FreshRow(row, len(key))
	}
	return t.kv.SetRow(row, len(key))
}

// recorded writes the record of a document that exists, and its index rows.
func (t *Tx) recorded(before, d *Doc) error {
	if err := t.putRecord(before, d); err != nil {
		return err
	}
	if before.flags != d.flags {
		if err := t.putNode(before, d); err != nil {
			return err
		}
	}
	if (before.flags^d.flags)&layout.TreeFlags != 0 {
		if err := t.invalidate(); err != nil {
			return err
		}
	}
	if err := t.reindex(before, d); err != nil || !d.proxied {
		return err
	}
	return t.reindexProxies(before, d)
}

// putNode writes the rows that say where d is; before is nil for a new document.
func (t *Tx) putNode(before, d *Doc) error {
	if before != nil {
		t.moved()
	}
	if before != nil && (before.parent != d.parent || before.name != d.name) {
		if err := t.kv.Delete(layout.ChildNameKey(before.parent, before.name)); err != nil {
			return err
		}
	}
	if before != nil && (before.parent != d.parent || before.position != d.position) {
		if err := t.kv.Delete(layout.ChildPositionKey(before.parent, before.position, d.id)); err != nil {
			return err
		}
	}
	put := t.kv.Set
	if before == nil {
		put = t.kv.Fresh // a new id is in the key
	}
	if err := put(layout.NodeKey(d.id), d.node.append(make([]byte, 0, 128))); err != nil {
		return err
	}
	if d.id == t.repo.root || d.IsVersion() {
		return nil
	}
	set := t.kv.Set
	if before == nil || before.parent != d.parent || before.name != d.name {
		set = t.kv.Claim
	}
	if err := set(layout.ChildNameKey(d.parent, d.name), childValue(d.flags, d.id)); err != nil {
		return err
	}
	return put(layout.ChildPositionKey(d.parent, d.position, d.id), d.childCover())
}

// placed writes the place of a document that exists, and its index rows.
func (t *Tx) placed(before, d *Doc) error {
	if err := t.putNode(before, d); err != nil {
		return err
	}
	if before.name != d.name {
		if err := t.reindexText(d); err != nil {
			return err
		}
	}
	if err := t.invalidateAt(d); err != nil {
		return err
	}
	return t.reindex(before, d)
}

// refer keeps the files of d and the rows that say who needs them.
func (t *Tx) refer(before, d *Doc) error {
	was, err := before.digests()
	if err != nil {
		return err
	}
	is := map[string]bool{}
	err = d.eachBlob(func(b *blob.Blob) error {
		if is[b.Digest] || was[b.Digest] {
			is[b.Digest] = true
			return nil
		}
		is[b.Digest] = true
		if err := t.keepFile(b); err != nil {
			return err
		}
		return t.kv.Set(layout.BlobRefKey(b.Digest, d.id), nil)
	})
	if err != nil {
		return err
	}
	for digest := range was {
		if !is[digest] {
			if err := cmp.Or(t.kv.Delete(layout.BlobRefKey(digest, d.id)), t.loosen(digest)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Doc) digests() (map[string]bool, error) {
	var out map[string]bool
	if d == nil {
		return nil, nil
	}
	err := d.eachBlob(func(b *blob.Blob) error {
		if out == nil {
			out = map[string]bool{}
		}
		out[b.Digest] = true
		return nil
	})
	return out, err
}

// touch notes who changed the document and when.
func (t *Tx) touch(d *Doc, created bool) {
	var now, who any = t.now, t.Actor()
	set := func(key string, v any) {
		if b, i := d.field(key); b != nil {
			b.set(i, v)
		}
	}
	if created {
		set("dc:created", now)
		// Administrators may create documents in the name of others, as on the platform; a creator that
		// somebody else names is overwritten.
		if b, i := d.field("dc:creator"); b != nil && t.as.Admin {
			given, _ := b.get(t.repo, i)
			if name, _ := given.(string); name != "" {
				who = name
			}
		}
		set("dc:creator", who)
		who = t.Actor()
	}
	set("dc:modified", now)
	set("dc:lastContributor", who)
	if b, i := d.field("dc:contributors"); b != nil {
		v, _ := b.get(t.repo, i)
		have, _ := v.([]any)
		if !slices.Contains(have, who) {
			b.set(i, append(slices.Clone(have), who))
		}
	}
}

// Violations are the constraints that the properties of a document break. They travel inside an
// Invalid error with the code "validation".
type Violations []schema.Violation

// Error names the first property and how many there are.
func (v Violations) Error() string {
	return v[0].Message
}

// validate checks the fields that want returns true for.
func (d *Doc) validate(want func(b *block, i int) bool) error {
	var found Violations
	for i := range d.blocks {
		b := &d.blocks[i]
		for j, f := range b.shape.Fields {
			if !want(b, j) {
				continue
			}
			v, err := b.get(d.repo, j)
			if err != nil {
				return err
			}
			broken := f.Validate(v)
			for k := range broken {
				broken[k].Schema = b.shape.Name
			}
			found = append(found, broken...)
		}
	}
	if len(found) == 0 {
		return nil
	}
	e := fault.Invalid.Errorf("document %s: %w", d.Path(), found).WithCode(fault.CodeValidation)
	return e
}

// position returns one after all earlier ones of this transaction and of transactions of
// earlier milliseconds, or what follows from where it is in a sequence.
func (t *Tx) position() int64 {
	from := t.now.UnixMilli() << 10
	if in, ok := t.ctx.Value(sequencedKey{}).(sequenced); ok {
		in.of.begun.CompareAndSwap(0, from)
		from = in.of.begun.Load() + in.behind
	}
	t.lastPosition = max(t.lastPosition+1, from)
	return t.lastPosition
}

// Sequence has transactions run at the same time and yet make documents in an order: in their folders, these come in the order of
// the transactions in the sequence, whichever begins or ends first. Its zero value is ready.
type Sequence struct {
	begun atomic.Int64 // the first position; 0: none is needed yet
}

// sequenced is where a transaction is in a sequence.
type sequenced struct {
	of     *Sequence
	behind int64 // so many documents
}

type sequencedKey struct{}

// Behind returns the context of a transaction whose documents come behind so many others of the sequence.
func (s *Sequence) Behind(ctx context.Context, documents int64) context.Context {
	return context.WithValue(ctx, sequencedKey{}, sequenced{s, documents})
}
