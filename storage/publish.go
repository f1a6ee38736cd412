package storage

import (
	"cmp"

	"catena/storage/fault"
	"catena/storage/internal/layout"
)

// Publish puts a proxy of a version of d into a section: d itself if it is a version or shows
// one, else its last version, made now if d changed since. With override the proxy that is
// there already shows the new version, and several are replaced by one.
func (t *Tx) Publish(d, section *Doc, override bool) (*Doc, error) {
	src, err := t.Reload(d)
	if err != nil {
		return nil, err
	}
	up, err := t.target(section)
	if err != nil {
		return nil, err
	}
	v, err := t.published(src)
	if err != nil {
		return nil, err
	}
	var old Docs
	if override {
		if old, err = t.As(t.repo.System()).Proxies(v, section); err != nil {
			return nil, err
		}
	}
	if len(old) == 1 {
		return t.repoint(old[0], v, section)
	}
	for _, o := range old {
		if err := t.As(t.repo.System()).Delete(o); err != nil {
			return nil, err
		}
	}
	p, err := t.putProxy(v, up, src.name)
	if err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "create"}, p)
	return p, t.announce("documentProxyPublished", p, section)
}

// announce tells about a proxy and the section it is in.
func (t *Tx) announce(event string, p, section *Doc) error {
	if err := t.fire(Event{Name: event, Doc: p}); err != nil {
		return err
	}
	return t.fire(Event{Name: "sectionContentPublished", Doc: section})
}

// published returns the version that is to be shown where d is published.
func (t *Tx) published(d *Doc) (*Doc, error) {
	id := d.id
	switch {
	case d.IsVersion():
		return d, nil
	case d.IsProxy():
		id = d.target
	}
	cur, err := t.load(id)
	if err != nil || cur == nil || cur.IsVersion() {
		return cur, cmp.Or(err, errIfGone(cur, d))
	}
	if err := t.need(cur, permRead); err != nil {
		return nil, err
	}
	if cur.id == t.repo.root {
		return nil, fault.Conflict.Errorf("document /: cannot be published")
	}
	if !cur.checkedIn {
		return t.archive(cur, false, "")
	}
	_, _, last, err := t.lastNumber(cur.id)
	if err != nil {
		return nil, err
	}
	if cur.target != layout.None {
		last = cur.target
	}
	v, err := t.load(last)
	return v, cmp.Or(err, errIfGone(v, d))
}

func errIfGone(d, asked *Doc) error {
	if d == nil {
		return notFound(asked.Ref())
	}
	return nil
}

// repoint lets a proxy show another version.
func (t *Tx) repoint(p, v, section *Doc) (*Doc, error) {
	before := p.clone()
	p.target = v.id
	p.show(v.clone().record)
	p.flags = p.flags&^layout.FacetFlags | p.facetFlags()
	if err := t.putRecord(before, p); err != nil {
		return nil, err
	}
	if err := t.putPlace(before, p); err != nil {
		return nil, err
	}
	if err := t.reindex(before, p); err != nil {
		return nil, err
	}
	if err := t.reword(p); err != nil {
		return nil, err
	}
	if (before.flags^p.flags)&layout.TreeFlags != 0 {
		if err := t.stir(); err != nil {
			return nil, err
		}
	}
	t.changed(Change{Kind: "update", Note: "shows " + v.VersionLabel()}, p)
	return p, t.announce("documentProxyUpdated", p, section)
}
