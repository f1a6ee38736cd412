package search

import (
	"strings"

	"catena/storage"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// Lookup returns the readable documents, no versions and no proxies, whose property has a text:
// what a query with that one condition finds, by the rows of the property's index and without a
// plan. It is for the few rows that an index has of a text that is somebody's own.
func Lookup(t *storage.Tx, key, text string) (storage.Docs, error) {
	in := t.Internal(row.Ordered{})
	if !in.Usable(key) { // not yet: its rows are being written
		page, err := Query(t, "SELECT * FROM Document WHERE "+key+" = ? AND ecm:isVersion = 0 AND ecm:isProxy = 0",
			Options{Args: []any{text}, PageOptions: storage.PageOptions{CountLimit: -1}})
		if err != nil {
			return nil, err
		}
		return page.Docs, nil
	}
	var docs storage.Docs
	for found, err := range in.KV().Scan(rowsOf(in, key, text)) {
		if err != nil {
			return nil, err
		}
		var c layout.Cover
		if err := c.Parse(in.Dictionary(), found.Value); err != nil {
			return nil, err
		}
		if c.Flags&(layout.Version|layout.Proxy) != 0 {
			continue
		}
		d, err := in.LoadCovered(layout.IDAtEnd(found.Key), &c)
		if err != nil {
			return nil, err
		}
		if d != nil && storage.Prop[string](d, key) == text && in.CanRead(d) {
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// LookupAhead has a store across a network fetch in one round trip what Lookup is about to ask for: the rows of texts, each with its document.
func LookupAhead(t *storage.Tx, key string, texts []string) error {
	in := t.Internal(row.Ordered{})
	if !in.KV().Remote() || !in.Usable(key) {
		return nil
	}
	ranges := make([]kv.Range, len(texts))
	for i, text := range texts {
		ranges[i] = rowsOf(in, key, text)
		ranges[i].Follow = [][]byte{{layout.NodeSpace}, {layout.RecordSpace}}
	}
	return in.KV().Prefetch(nil, ranges...)
}

// rowsOf are the rows of a text in the index of a property.
func rowsOf(in storage.Internal, key, text string) kv.Range {
	folded := strings.ToLower(text)
	return kv.Prefix(kv.AppendString(in.Dictionary().IndexPrefix(key), folded[:min(len(folded), layout.MaxIndexed)]))
}
