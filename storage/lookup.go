package storage

import (
	"strings"

	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// Lookup returns the readable documents, no versions and no proxies, whose property has a text:
// what a query with that one condition finds, by the rows of the property's index and without a
// plan. It is for the few rows that an index has of a text that is somebody's own.
func (t *Tx) Lookup(key, text string) (Docs, error) {
	if !t.repo.usable(key) { // not yet: its rows are being written
		page, err := t.Query("SELECT * FROM Document WHERE "+key+" = ? AND ecm:isVersion = 0 AND ecm:isProxy = 0",
			QueryOptions{Args: []any{text}, PageOptions: PageOptions{CountLimit: -1}})
		if err != nil {
			return nil, err
		}
		return page.Docs, nil
	}
	folded := strings.ToLower(text)
	rows := prefix(kv.AppendString(t.repo.numbers.IndexPrefix(key), folded[:min(len(folded), layout.MaxIndexed)]))
	var docs Docs
	for row, err := range t.kv.Scan(rows) {
		if err != nil {
			return nil, err
		}
		var c layout.Cover
		if err := c.Parse(t.repo.numbers, row.Value); err != nil {
			return nil, err
		}
		if c.Flags&(layout.Version|layout.Proxy) != 0 {
			continue
		}
		d, err := t.covered(layout.IDAtEnd(row.Key), &c)
		if err != nil {
			return nil, err
		}
		if d != nil && d.text(key) == text && t.can(d, permRead) {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// covered loads the document of an index row.
func (t *Tx) covered(id layout.ID, c *layout.Cover) (*Doc, error) {
	n, ok := placeOf(c)
	if !ok {
		return t.load(id)
	}
	rec, err := t.kv.Get(layout.RecordKey(id))
	if err != nil || rec == nil {
		return nil, err
	}
	return t.assembleAt(id, n, rec)
}

// Stored returns a top-level property as it was stored, whatever was set on d since.
func (d *Doc) Stored(key string) (any, error) {
	b, i := d.field(key)
	if b == nil {
		return nil, nil
	}
	raw := b.member(i)
	if raw == nil || isUnset(raw) {
		return nil, nil
	}
	v, err := b.shape.Fields[i].ParseJSON(raw)
	if err == nil && b.shape.blobs[i] {
		v = d.repo.loadBlobs(v)
	}
	return v, err
}
