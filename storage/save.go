package storage

import (
	"slices"
	"strings"

	"catena/storage/fault"
)

// SaveOptions guard a save.
type SaveOptions struct {
	ChangeToken string // non-empty and stale: Conflict "{id}, Invalid change token"
	Comment     string // for the audit record
	Source      string
	Quiet       bool // no modification date, contributors or event
}

// Save writes what was set on d, over what others saved meanwhile. Values equal to what is stored are no
// change.
func (t *Tx) Save(d *Doc, o SaveOptions) (*Doc, error) {
	cur, err := t.edit(d, permWriteProperties)
	if err != nil {
		return nil, err
	}
	if o.ChangeToken != "" && !sameToken(o.ChangeToken, cur.ChangeToken()) {
		return nil, fault.Conflict.Errorf("%s, Invalid change token", d.ID())
	}
	before := cur.clone()
	changed := cur.adopt(d)
	if len(changed) == 0 {
		return t.saved(d, cur), nil
	}
	if !o.Quiet {
		if err := t.fire(Event{Name: "beforeDocumentModification", Doc: cur}); err != nil {
			return nil, err
		}
	}
	if err := cur.validate(func(b *block, i int) bool { return b.isDirty(i) }); err != nil {
		return nil, err
	}
	if !o.Quiet {
		t.touch(cur, false)
		cur.user++
		cur.checkedIn = false
	}
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "update", Note: strings.Join(changed, " ")}, cur)
	d = t.saved(d, cur)
	if o.Quiet {
		return d, nil
	}
	return d, t.fire(Event{Name: "documentModified", Doc: d, Comment: o.Comment, Source: o.Source, Changed: changed})
}

// saved makes d what cur is, with nothing left to save.
func (t *Tx) saved(d, cur *Doc) *Doc {
	*d = *cur
	return d
}

// adopt sets on d what was set on the other in memory, and returns the xpaths of what changes by it.
func (d *Doc) adopt(other *Doc) (changed []string) {
	if other.facetsSet && !slices.Equal(d.facets, other.facets) {
		d.setFacets(slices.Clone(other.facets))
		changed = append(changed, "facets")
	}
	for i := range other.blocks {
		from := &other.blocks[i]
		for j, v := range from.pending {
			b, at := d.field(from.shape.Fields[j].Key)
			if b == nil {
				continue
			}
			old := b.values()[at]
			b.set(at, v)
			if b.changed(at) {
				changed = append(changed, from.shape.Fields[j].Key)
			} else {
				b.values()[at] = old
			}
		}
	}
	return changed
}

// sameToken compares the second numbers of change tokens, which count what people changed.
func sameToken(a, b string) bool {
	return a[strings.LastIndexByte(a, '-')+1:] == b[strings.LastIndexByte(b, '-')+1:]
}
