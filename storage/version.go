package storage

import (
	"cmp"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
	"catena/storage/schema"
)

// A version is a record outside the tree: its place names the live document as parent, so
// that the live document's permissions are its own. The index "version" lists the versions
// of a live document by number. When the live document goes, its versions go with it, unless
// a proxy still shows one: then a tomb stays in the live document's place, and the versions
// are for administrators and for who may read the proxies.

// IsVersionable reports whether versions of the document are made on request.
func (d *Doc) IsVersionable() bool { return d.HasFacet("Versionable") }

// IsImmutable reports whether the properties of the document cannot change: it is a version,
// or a proxy that shows one.
func (d *Doc) IsImmutable() bool { return d.IsVersion() || d.IsProxy() && d.target != d.series }

// VersionableID returns the id of the live document that a version, or what a proxy shows,
// belongs to; "" for other documents.
func (d *Doc) VersionableID() string {
	if d.IsVersion() || d.IsProxy() {
		return d.series.String()
	}
	return ""
}

// TargetID returns the id of the document that a proxy shows, "" for other documents.
func (d *Doc) TargetID() string {
	if d.IsProxy() {
		return d.target.String()
	}
	return ""
}

// seriesID is the live document whose versions are meant when d is.
func (d *Doc) seriesID() layout.ID {
	if d.IsVersion() || d.IsProxy() {
		return d.series
	}
	return d.id
}

// setNumbers sets the version number, also among the properties.
func (d *Doc) setNumbers(major, minor int64) {
	d.major, d.minor = major, minor
	for key, n := range map[string]int64{"uid:major_version": major, "uid:minor_version": minor} {
		if b, i := d.field(key); b != nil {
			b.set(i, n)
		}
	}
}

// CheckIn archives the state of d as a new version and returns the version. A document that
// is checked in already is left alone, and there is no version.
func (t *Tx) CheckIn(d *Doc, major bool, comment string) (*Doc, error) {
	if d != nil && d.IsProxy() {
		var v *Doc
		_, err := t.behind(d, permWriteProperties, func(target *Doc) (_ *Doc, err error) {
			v, err = t.CheckIn(target, major, comment)
			return target, err
		})
		return v, err
	}
	cur, err := t.edit(d, permWriteProperties)
	if err != nil {
		return nil, err
	}
	if cur.id == t.repo.root {
		return nil, fault.Conflict.Errorf("document /: cannot have versions")
	}
	// The last version already holds this state; another one would have the same content under another
	// number.
	if cur.checkedIn {
		t.finish(d, cur)
		return nil, nil
	}
	v, err := t.archive(cur, major, comment)
	if err != nil {
		return nil, err
	}
	t.finish(d, cur)
	return v, nil
}

// CheckInAs archives the state of d as CheckIn does, with the number of another document: d is a copy of that in another form.
func (d *Doc) CheckInAs(t *Tx, like *Doc) error {
	cur, err := t.edit(d, permWriteProperties)
	if err != nil || cur.checkedIn {
		return err
	}
	if _, err := t.archiveAs(cur, like.major, like.minor, ""); err != nil {
		return err
	}
	t.finish(d, cur)
	return nil
}

// archive makes a version of cur, which is checked in by it, regardless of who acts.
func (t *Tx) archive(cur *Doc, major bool, comment string) (*Doc, error) {
	if major {
		return t.archiveAs(cur, cur.major+1, 0, comment)
	}
	return t.archiveAs(cur, cur.major, cur.minor+1, comment)
}

// archiveAs makes a version of a given number.
func (t *Tx) archiveAs(cur *Doc, major, minor int64, comment string) (*Doc, error) {
	if err := t.fire(Event{Name: "aboutToCheckIn", Doc: cur, Comment: comment}); err != nil {
		return nil, err
	}
	up, err := t.folder(cur.id)
	if err != nil || up == nil {
		return nil, cmp.Or[error](err, notFound(cur.Ref()))
	}
	before := cur.clone()
	cur.setNumbers(major, minor)
	v := cur.clone()
	if v.id, err = t.newDocID(); err != nil {
		return nil, err
	}
	// With the live document as parent, a version is readable exactly as long as that is.
	v.node = node{parent: cur.id, position: t.position(), flags: layout.Version | cur.facetFlags(), name: cur.name}
	v.up, v.parentPath, v.idText, v.path, v.saved = up, "", "", "", true
	// A version has no lock, no change token and no target of its own, and is no record because its document is one.
	v.series, v.target, v.checkedIn, v.proxied, v.archived = cur.id, layout.None, true, false, t.now
	v.lockOwner, v.system, v.user, v.kept = "", 0, 0, Retention{}
	for _, put := range []func(before, d *Doc) error{t.putRecord, t.putNode, t.reindex} {
		if err := put(nil, v); err != nil {
			return nil, err
		}
	}
	cur.checkedIn, cur.target = true, v.id
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.forgetLatest(cur.id)
	t.changed(Change{Kind: "version", Note: v.VersionLabel()}, cur)
	if err := t.fire(Event{Name: "documentCreated", Doc: v}); err != nil {
		return nil, err
	}
	return v, t.fire(Event{Name: "documentCheckedIn", Doc: cur, Comment: comment})
}

// CheckOut allows d to differ from its last version. A document that does already is left alone.
func (t *Tx) CheckOut(d *Doc) (*Doc, error) {
	if d != nil && d.IsProxy() {
		return t.behind(d, permWriteProperties, t.CheckOut)
	}
	cur, err := t.edit(d, permWriteProperties)
	if err != nil {
		return nil, err
	}
	if !cur.checkedIn {
		return t.finish(d, cur), nil
	}
	before := cur.clone()
	if err := t.leaveVersion(cur); err != nil {
		return nil, err
	}
	if err := t.recorded(before, cur); err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "version", Note: "checked out"}, cur)
	d = t.finish(d, cur)
	return d, t.fire(Event{Name: "documentCheckedOut", Doc: d})
}

// leaveVersion checks cur out in memory. A document that was restored to an old version goes
// on from the number of the last one.
func (t *Tx) leaveVersion(cur *Doc) error {
	cur.checkedIn = false
	major, minor, id, err := t.lastNumber(cur.id)
	if err != nil || id == layout.None || id == cur.target {
		return err
	}
	cur.setNumbers(major, minor)
	return nil
}

// newest is the row of the newest version of a live document.
func (t *Tx) newest(live layout.ID) kv.Range {
	r := prefix(t.repo.numbers.VersionPrefix(live))
	r.Reverse, r.Limit, r.KeysOnly = true, 1, true
	return r
}

// newestAhead is told that the newest version of a document is about to be loaded; see rowsAhead.
func (t *Tx) newestAhead(live layout.ID) error {
	return t.rowsAhead("newest version", live, func(live layout.ID) kv.Range {
		r := t.newest(live)
		r.Follow = layout.DocumentSpaces
		return r
	})
}

// lastNumber finds the newest version of a live document; none if there is no version.
func (t *Tx) lastNumber(live layout.ID) (major, minor int64, id layout.ID, err error) {
	if err := t.rowsAhead("last version", live, t.newest); err != nil {
		return 0, 0, layout.None, err
	}
	base := t.repo.numbers.VersionPrefix(live)
	for row, err := range t.kv.Scan(t.newest(live)) {
		if err != nil {
			return 0, 0, layout.None, err
		}
		part := row.Key[len(base) : len(row.Key)-16]
		if major, part, err = kv.DecodeInt64(part); err == nil {
			minor, _, err = kv.DecodeInt64(part)
		}
		return major, minor, layout.IDAtEnd(row.Key), err
	}
	return 0, 0, layout.None, nil
}

// Versions returns the versions of the document that d is, is a version of or shows, the
// oldest first; of more than fit on a page the newest.
func (t *Tx) Versions(d *Doc) (Docs, error) {
	if err := t.need(d, permReadVersion); err != nil {
		return nil, err
	}
	r := prefix(t.repo.numbers.VersionPrefix(d.seriesID()))
	// From the end, so that the newest ones are returned if there are too many.
	r.Reverse, r.Limit, r.KeysOnly = true, t.repo.limits.PageSize, true
	var ids []layout.ID
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, layout.IDAtEnd(row.Key))
	}
	slices.Reverse(ids)
	all, err := t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	return t.readable(all), nil
}

// readable leaves out what is gone or may not be read.
func (t *Tx) readable(docs Docs) Docs {
	return slices.DeleteFunc(docs, func(d *Doc) bool { return d == nil || !t.can(d, permRead) })
}

// LastVersion returns the newest version of the document that d is, is a version of or shows;
// nil if there is none.
func (t *Tx) LastVersion(d *Doc) (*Doc, error) {
	if err := t.need(d, permReadVersion); err != nil {
		return nil, err
	}
	if err := t.newestAhead(d.seriesID()); err != nil {
		return nil, err
	}
	_, _, id, err := t.lastNumber(d.seriesID())
	if err != nil || id == layout.None {
		return nil, err
	}
	return t.visible(id, Ref(id.String()))
}

// Live returns the live document that d is, is a version of or shows.
func (t *Tx) Live(d *Doc) (*Doc, error) {
	id := d.seriesID()
	return t.visible(id, Ref(id.String()))
}

// IsLatest reports whether a version is the newest one, and the newest one whose minor number
// is zero.
func (t *Tx) IsLatest(d *Doc) (version, major bool, err error) {
	if !d.IsVersion() {
		return false, false, nil
	}
	known, ok := t.latest[d.series]
	if !ok {
		if known, err = t.findLatest(d.series); err != nil {
			return false, false, err
		}
		if t.latest == nil {
			t.latest = map[layout.ID][2]layout.ID{}
		}
		t.latest[d.series] = known
	}
	return known[0] == d.id, known[1] == d.id, nil
}

// majorVersion is where the version of a live document is found that has a major number, and no minor one.
func (t *Tx) majorVersion(live layout.ID, major int64) kv.Range {
	r := prefix(kv.AppendInt64(kv.AppendInt64(t.repo.numbers.VersionPrefix(live), major), 0))
	r.Limit, r.KeysOnly = 1, true
	return r
}

// findLatest finds the newest version and the newest major one. There is about one version
// N.0 for each N, so that the second takes one step.
func (t *Tx) findLatest(live layout.ID) (found [2]layout.ID, err error) {
	major, _, id, err := t.lastNumber(live)
	if err != nil || id == layout.None {
		return found, err
	}
	found[0] = id
	for ; major > 0; major-- {
		for row, err := range t.kv.Scan(t.majorVersion(live, major)) {
			if err != nil {
				return found, err
			}
			found[1] = layout.IDAtEnd(row.Key)
			return found, nil
		}
	}
	return found, nil
}

func (t *Tx) forgetLatest(live layout.ID) { delete(t.latest, live) }

// RestoreOptions say what happens around a restoration.
type RestoreOptions struct {
	Keep     bool // archive the live state first, if it is not a version already
	CheckOut bool // leave the live document checked out
}

// Restore gives the live document the properties and facets of a version, and returns the live
// document. Its place, name, permissions and state in the life cycle stay.
func (t *Tx) Restore(v *Doc, o RestoreOptions) (*Doc, error) {
	if v == nil || !v.IsVersion() {
		return nil, fault.Invalid.Errorf("document: not a version")
	}
	version, err := t.visible(v.id, v.Ref())
	if err != nil {
		return nil, err
	}
	live, err := t.load(version.series)
	if err != nil || live == nil {
		return nil, cmp.Or(err, notFound(Ref(version.series.String())))
	}
	cur, err := t.edit(live, permWriteVersion)
	if err != nil {
		return nil, err
	}
	// The live state has no version yet and would be lost.
	if o.Keep && !cur.checkedIn {
		if _, err := t.archive(cur, false, ""); err != nil {
			return nil, err
		}
	}
	if err := t.fire(Event{Name: "beforeRestoringDocument", Doc: cur}); err != nil {
		return nil, err
	}
	before := cur.clone()
	cur.resume(version)
	if o.CheckOut {
		err = t.leaveVersion(cur)
	}
	if err == nil {
		err = t.recorded(before, cur)
	}
	if err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "version", Note: "restored " + version.VersionLabel()}, cur)
	return cur, t.fire(Event{Name: "documentRestored", Doc: cur, Comment: version.VersionLabel()})
}

// resume takes the properties of a version over in memory.
func (d *Doc) resume(v *Doc) {
	d.setFacets(slices.Clone(v.facets))
	from := v.clone()
	for i := range d.blocks {
		b := &d.blocks[i]
		at := slices.IndexFunc(from.blocks, func(o block) bool { return o.shape == b.shape })
		if at >= 0 {
			*b = from.blocks[at]
		}
	}
	d.major, d.minor, d.checkedIn, d.target = v.major, v.minor, true, v.id
	d.user++
}

// autoVersion carries out the declared rule for a moment, if there is one: before a save that
// other contributors follow, or after it.
func (t *Tx) autoVersion(d *Doc, m schema.Moment) error {
	if d.checkedIn || d.IsProxy() || d.IsVersion() || !d.IsVersionable() || d.HasFacet("SystemDocument") {
		return nil
	}
	rule := t.repo.types.Versioning(d.typ, d.Schemas(), m)
	if rule == nil || rule.Increment == schema.NoIncrement {
		return nil
	}
	// The rule concerns a change by another person than the one who changed the document last.
	if rule.Others {
		if last := d.text("dc:lastContributor"); last == "" || last == t.Actor() {
			return nil
		}
	}
	_, err := t.archive(d, rule.Increment == schema.Major, "")
	return err
}
