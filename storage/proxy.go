package storage

import (
	"cmp"
	"slices"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// A proxy is a document with a place, a name and permissions of its own that shows the rest
// of another: a live document, or a version (which is then published). Its record holds
// nothing but the ids of what it shows and of the live document of that. Who may read the
// proxy reads through it; who changes a live document through it needs the permission on
// both. A proxy does not outlive what it shows.

// shown completes a proxy by what it shows; nil if that is gone, or is a live document that
// is cut off from the root.
func (t *Tx) shown(d *Doc) (*Doc, error) {
	rows, err := t.kv.GetMany([][]byte{layout.NodeKey(d.target), layout.RecordKey(d.target)})
	if err != nil {
		return nil, err
	}
	if rows[0] == nil || rows[1] == nil {
		return nil, nil
	}
	n, err := parseNode(rows[0])
	if err != nil {
		return nil, err
	}
	if n.flags&layout.Version == 0 && d.target != t.repo.root {
		if up, err := t.folder(n.parent); err != nil || up == nil {
			return nil, err
		}
	}
	rec, err := t.repo.parseRecord(rows[1])
	if err != nil {
		return nil, fault.Wrap(err, "document %s", d.target)
	}
	d.show(rec)
	return d, nil
}

// show puts the content of another record on a proxy.
func (d *Doc) show(rec record) {
	target, series := d.target, d.series
	d.record = rec
	d.target, d.series, d.proxied = target, series, false
}

// rowDoc makes a document of its rows as they are, wherever it is: a proxy with what it shows.
func (t *Tx) rowDoc(id layout.ID, node, rec []byte) (*Doc, error) {
	d := &Doc{repo: t.repo, id: id, saved: true, parentPath: "/"}
	var err error
	if d.node, err = parseNode(node); err != nil {
		return nil, err
	}
	if d.record, err = t.repo.parseRecord(rec); err != nil || !d.IsProxy() {
		return d, err
	}
	b, err := t.kv.Get(layout.RecordKey(d.target))
	if err != nil {
		return nil, err
	}
	if b == nil {
		return nil, fault.Internal.Errorf("document %s: refers to %s, which does not exist", id, d.target)
	}
	target, err := t.repo.parseRecord(b)
	d.show(target)
	return d, err
}

// through changes what a proxy shows and returns the proxy as it then is.
func (t *Tx) through(d *Doc, p permission, change func(target *Doc) error) (*Doc, error) {
	cur, err := t.editLocked(d, p)
	if err != nil {
		return nil, err
	}
	target, err := t.load(cur.target)
	if err != nil || target == nil {
		return nil, cmp.Or[error](err, notFound(d.Ref()))
	}
	target.inherit(d)
	if err := change(target); err != nil {
		return nil, err
	}
	now, err := t.load(d.id)
	if err != nil || now == nil {
		return nil, cmp.Or[error](err, notFound(d.Ref()))
	}
	return now, nil
}

// behind changes what a proxy shows, and keeps on d what was set and not saved.
func (t *Tx) behind(d *Doc, p permission, change func(target *Doc) (*Doc, error)) (*Doc, error) {
	now, err := t.through(d, p, func(target *Doc) error {
		_, err := change(target)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.finish(d, now), nil
}

// proxyRows are the rows of the proxies of a document in one of the two indexes of proxies.
func (t *Tx) proxyRows(index string, of layout.ID) kv.Range {
	return prefix(kv.AppendString(t.repo.numbers.IndexPrefix(index), of.String()))
}

// proxyIDs finds the proxies in one of the two indexes of proxies; more says that there are
// others beyond max.
func (t *Tx) proxyIDs(index string, of layout.ID, max int) (ids []layout.ID, more bool, err error) {
	rows := func(of layout.ID) kv.Range {
		r := t.proxyRows(index, of)
		r.KeysOnly, r.Limit = true, max+1
		return r
	}
	if err := t.rowsAhead(index, of, rows); err != nil {
		return nil, false, err
	}
	for row, err := range t.kv.Scan(rows(of)) {
		if err != nil {
			return nil, false, err
		}
		if len(ids) == max {
			return ids, true, nil
		}
		ids = append(ids, layout.IDAtEnd(row.Key))
	}
	return ids, false, nil
}

// maxProxies is the number of proxies of one document that are changed or removed at once.
const maxProxies = 1000

// reindexProxies brings the rows of the proxies of a live document up to date.
func (t *Tx) reindexProxies(before, after *Doc) error {
	ids, more, err := t.proxyIDs(layout.ProxyIndex, after.id, maxProxies)
	if err != nil {
		return err
	}
	if more {
		return fault.Limit.Errorf("document %s: more than %d proxies refer to it", after.ID(), maxProxies)
	}
	keys := make([][]byte, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.NodeKey(id), layout.RecordKey(id))
	}
	rows, err := t.kv.GetMany(keys)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if rows[2*i] == nil || rows[2*i+1] == nil {
			continue
		}
		was, err := t.rowDoc(id, rows[2*i], rows[2*i+1])
		if err != nil {
			return err
		}
		is := *was
		was.show(before.record)
		is.show(after.record)
		is.flags = is.flags&^layout.FacetFlags | is.facetFlags()
		if is.flags != was.flags {
			if err := t.putNode(was, &is); err != nil {
				return err
			}
		}
		if err := t.reindex(was, &is); err != nil {
			return err
		}
		if err := t.reindexText(&is); err != nil {
			return err
		}
	}
	return nil
}

// CreateProxy puts a proxy that shows a live document, or a version, into a folder, under the
// name of what it shows.
func (t *Tx) CreateProxy(d, folder *Doc) (*Doc, error) {
	src, err := t.Reload(d)
	if err != nil {
		return nil, err
	}
	if src.IsProxy() {
		target, err := t.load(src.target)
		if err != nil || target == nil {
			return nil, cmp.Or[error](err, notFound(d.Ref()))
		}
		src = target
	}
	up, err := t.target(folder)
	if err != nil {
		return nil, err
	}
	p, err := t.putProxy(src, up, src.name)
	if err != nil {
		return nil, err
	}
	t.changed(Change{Kind: "create"}, p)
	return p, t.fire(Event{Name: "documentCreated", Doc: p})
}

// putProxy writes a new proxy of src, which is no proxy.
func (t *Tx) putProxy(src *Doc, up *Folder, name string) (*Doc, error) {
	if src.id == t.repo.root {
		return nil, fault.Conflict.Errorf("document /: cannot have proxies")
	}
	if !src.IsVersion() {
		if up.within(src.id) {
			return nil, fault.Conflict.Errorf("document %s: cannot have a proxy below itself", src.Path())
		}
		if !src.proxied {
			before := src.clone()
			src.proxied = true
			if err := t.recorded(before, src); err != nil {
				return nil, err
			}
		}
	}
	p := src.clone()
	p.target, p.series, p.proxied = src.id, src.seriesID(), false
	p.node = node{flags: layout.Proxy | src.facetFlags()}
	if err := t.setNode(p, up, name); err != nil {
		return nil, err
	}
	for _, put := range []func(before, d *Doc) error{t.putRecord, t.putNode, t.reindex} {
		if err := put(nil, p); err != nil {
			return nil, err
		}
	}
	p.saved = true
	return p, nil
}

// Proxies returns the readable proxies that show d, or another version of the same document;
// a folder limits them to its children.
func (t *Tx) Proxies(d, folder *Doc) (Docs, error) {
	if err := t.need(d, permRead); err != nil {
		return nil, err
	}
	ids, more, err := t.proxyIDs(layout.ProxyOfIndex, d.seriesID(), maxProxies)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fault.Limit.Errorf("document %s: more than %d proxies", d.ID(), maxProxies)
	}
	all, err := t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	docs := t.readable(all)
	if folder != nil {
		docs = slices.DeleteFunc(docs, func(p *Doc) bool { return p.parent != folder.id })
	}
	return docs, nil
}

// CountPublished counts the readable proxies that show versions of the document, by their rows.
func CountPublished(t *Tx, d *Doc) (int, error) {
	series := d.seriesID()
	live, _, err := t.proxyIDs(layout.ProxyIndex, series, maxProxies)
	if err != nil {
		return 0, err
	}
	r := t.proxyRows(layout.ProxyOfIndex, series)
	r.Limit = maxProxies
	n := 0
	for row, err := range t.kv.Scan(r) {
		if err != nil {
			return 0, err
		}
		var c layout.Cover
		if err := c.Parse(t.repo.numbers, row.Value); err != nil {
			return 0, err
		}
		up, err := t.folder(c.Parent)
		if err != nil {
			return 0, err
		}
		if up != nil && !slices.Contains(live, layout.IDAtEnd(row.Key)) && t.granted(c.List, up, permRead) {
			n++
		}
	}
	return n, nil
}

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
	v, err := src.Published(t)
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

// Published returns the version that is to be shown where d is published: d itself if it is a version or shows one, else
// its last version, made now if d changed since.
func (d *Doc) Published(t *Tx) (*Doc, error) {
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
	if err := t.newestAhead(cur.id); err != nil {
		return nil, err
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
	if err := t.putNode(before, p); err != nil {
		return nil, err
	}
	if err := t.reindex(before, p); err != nil {
		return nil, err
	}
	if err := t.reindexText(p); err != nil {
		return nil, err
	}
	if (before.flags^p.flags)&layout.TreeFlags != 0 {
		if err := t.invalidate(); err != nil {
			return nil, err
		}
	}
	t.changed(Change{Kind: "update", Note: "shows " + v.VersionLabel()}, p)
	return p, t.announce("documentProxyUpdated", p, section)
}
