package storage

import (
	"slices"
	"strings"

	"catena/storage/fault"
	"catena/storage/schema"
)

// SaveOptions guard a save.
type SaveOptions struct {
	ChangeToken string // non-empty and stale: Conflict "{id}, Invalid change token"
	Comment     string // for the audit record
	Source      string
	Quiet       bool       // no modification date, contributors, event or version
	Versioning  Versioning // the version made afterwards, of what is versionable
}

// Versioning is what a save does about versions.
type Versioning uint8

// The ways to save: as the declared rules have it, without a version, or with one.
const (
	AutoVersion Versioning = iota
	NoVersion
	MinorVersion
	MajorVersion
)

// ParseVersioning reads none, minor or major in any case; "" leaves it to the rules.
func ParseVersioning(s string) (Versioning, error) {
	switch strings.ToLower(s) {
	case "":
		return AutoVersion, nil
	case "none":
		return NoVersion, nil
	case "minor":
		return MinorVersion, nil
	case "major":
		return MajorVersion, nil
	}
	return 0, fault.Invalid.Errorf("versioning %q: must be none, minor or major", s).In("versioning")
}

// Save writes what was set on d, over what others saved meanwhile. Values equal to what is stored are no
// change.
func (t *Tx) Save(d *Doc, o SaveOptions) (*Doc, error) {
	if d != nil && d.IsProxy() {
		now, err := t.through(d, permWriteProperties, func(target *Doc) error {
			_, err := t.Save(target, o)
			return err
		})
		if err != nil {
			return nil, err
		}
		return t.saved(d, now), nil
	}
	// The changes are applied to the document as it is now, not as the caller has read it: two callers who
	// change different properties both succeed. A caller who wants otherwise gives the change token.
	cur, err := t.edit(d, permWriteProperties)
	if err != nil {
		return nil, err
	}
	if o.ChangeToken != "" && cur.ChangedSince(o.ChangeToken) {
		return nil, fault.Conflict.Errorf("%s, Invalid change token", d.ID())
	}
	before := cur.clone()
	changed := cur.adopt(d)
	// Setting a property to the value that it already has changes nothing: no event, no date, no version.
	if len(changed) == 0 {
		d = t.saved(d, cur)
		if o.Versioning == AutoVersion {
			return d, nil
		}
		return d, t.versionAfter(cur, d, o)
	}
	if before, cur, err = t.versionBefore(before, cur, d, o); err != nil {
		return nil, err
	}
	if changed, err = t.store(before, cur, changed, o); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "update", Note: strings.Join(changed, " ")}, cur)
	d = t.saved(d, cur)
	if o.Quiet {
		return d, nil
	}
	err = t.fire(Event{Name: "documentModified", Doc: d, Comment: o.Comment, Source: o.Source, Changed: changed})
	if err != nil {
		return nil, err
	}
	return d, t.versionAfter(cur, d, o)
}

// store checks and writes a changed document. Listeners may change it further before it is checked, which is added to what has
// changed. A quiet save leaves the contributors, the date and the version as they are.
func (t *Tx) store(before, cur *Doc, changed []string, o SaveOptions) ([]string, error) {
	if !o.Quiet {
		if err := t.fire(Event{Name: "beforeDocumentModification", Doc: cur, Changed: changed}); err != nil {
			return nil, err
		}
		changed = cur.withChanged(changed)
	}
	if err := cur.validate(func(b *block, i int) bool { return b.isDirty(i) }); err != nil {
		return nil, err
	}
	if !o.Quiet {
		t.touch(cur, false)
		cur.user++
		// The first change after a check-in makes the document differ from its version.
		if cur.checkedIn {
			if err := t.leaveVersion(cur); err != nil {
				return nil, err
			}
		}
	}
	return changed, t.recorded(before, cur)
}

// withChanged adds the xpaths of what differs from what is stored to those that are known to.
func (d *Doc) withChanged(known []string) []string {
	for i := range d.blocks {
		b := &d.blocks[i]
		for j, f := range b.shape.Fields {
			if b.isDirty(j) && b.changed(j) && !slices.Contains(known, f.Key) {
				known = append(known, f.Key)
			}
		}
	}
	return known
}

// versionBefore makes the version that the rules want of the state a save is about to change.
// It returns the states before and after once more.
func (t *Tx) versionBefore(before, cur, d *Doc, o SaveOptions) (*Doc, *Doc, error) {
	if o.Quiet || o.Versioning == NoVersion || before.checkedIn {
		return before, cur, nil
	}
	// The version must hold the state before the change, which now exists only in memory. It is archived
	// from a copy, and the change is applied to the result once more, because archiving has raised the
	// version number.
	was := before.clone()
	if err := t.autoVersion(was, schema.Before); err != nil || !was.checkedIn {
		return before, cur, err
	}
	cur = was.clone()
	cur.adopt(d)
	return was, cur, nil
}

// versionAfter makes the version that a save asks for, or the rules want.
func (t *Tx) versionAfter(cur, d *Doc, o SaveOptions) (err error) {
	switch {
	case o.Quiet || o.Versioning == NoVersion || cur.checkedIn:
		return nil
	case o.Versioning == AutoVersion:
		err = t.autoVersion(cur, schema.After)
	case !cur.IsVersionable():
		return nil
	default:
		_, err = t.archive(cur, o.Versioning == MajorVersion, o.Comment)
	}
	t.saved(d, cur)
	return err
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
			// The value is set to find out whether it differs in its stored form, and taken back if not: 5
			// and 5.0 are equal there.
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

// ChangedSince reports whether people have changed the document since it had a change token. It compares the second numbers, which count
// that. The first ones also count changes by the server, such as a lock, which do not make a user's change stale.
func (d *Doc) ChangedSince(token string) bool {
	now := d.ChangeToken()
	return token[strings.LastIndexByte(token, '-')+1:] != now[strings.LastIndexByte(now, '-')+1:]
}
