package storage

import (
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// ahead has a store across a network fetch the rows of documents that are about to be loaded, in one round trip. It remembers
// them, so that a transaction that reads a document again, such as to change it, waits once.
func (t *Tx) ahead(ids []layout.ID) error {
	if !t.kv.Remote() {
		return nil
	}
	keys := make([][]byte, 0, 2*len(ids))
	for _, id := range ids {
		keys = append(keys, layout.NodeKey(id), layout.RecordKey(id))
	}
	return t.kv.Prefetch(keys)
}

// company are documents that were read together: what is read about one of them is mostly read about the others next.
type company struct {
	ids   []layout.ID
	asked map[string]layout.ID // by what is read: the first document about which it was; none once it was fetched for all of them
}

// companies are those of a transaction.
type companies struct {
	of   map[layout.ID]*company
	wide map[string]bool // what was read about several documents of a company
}

// largestCompany is for how many documents rows are fetched at once, and maxAccompanied of how many a transaction remembers with
// which others they were read.
const (
	largestCompany = 100
	maxAccompanied = 10_000
)

// accompany notes that documents are read together, if the store is across a network.
func (t *Tx) accompany(ids []layout.ID) {
	if !t.kv.Remote() || len(ids) < 2 {
		return
	}
	if len(t.companies.of) > maxAccompanied || t.companies.of == nil {
		t.companies.of = map[layout.ID]*company{}
	}
	for part := range slices.Chunk(ids, largestCompany) {
		c := &company{ids: part, asked: map[string]layout.ID{}}
		for _, id := range part {
			t.companies.of[id] = c
		}
	}
}

// rowsAhead is told which rows about a document are about to be read. Of the second document of a company it has a store across a
// network fetch those of all of them in one round trip, and of further companies at once, so that a list does not wait for each of its
// documents.
func (t *Tx) rowsAhead(what string, id layout.ID, rows func(layout.ID) kv.Range) error {
	c := t.companies.of[id]
	if c == nil {
		return nil
	}
	first, asked := c.asked[what]
	switch {
	case !asked && !t.companies.wide[what]:
		c.asked[what] = id
		return nil
	case asked && (first == id || first == layout.None):
		return nil
	}
	c.asked[what] = layout.None
	if t.companies.wide == nil {
		t.companies.wide = map[string]bool{}
	}
	t.companies.wide[what] = true
	return t.rangesAhead(c.ids, rows)
}

// rangesAhead has a store across a network fetch rows about documents in one round trip.
func (t *Tx) rangesAhead(ids []layout.ID, rows func(layout.ID) kv.Range) error {
	if !t.kv.Remote() {
		return nil
	}
	ranges := make([]kv.Range, len(ids))
	for i, id := range ids {
		ranges[i] = rows(id)
	}
	return t.kv.Prefetch(nil, ranges...)
}

// parentsAhead fetches the folders of documents, of which it has the rows of the tree, unless there is one folder only.
func (t *Tx) parentsAhead(rows [][]byte) error {
	if !t.kv.Remote() || len(rows) < 2 {
		return nil
	}
	cache, err := t.folderCache()
	if err != nil {
		return err
	}
	keys, seen := [][]byte(nil), map[layout.ID]bool{}
	for _, row := range rows {
		if row == nil {
			continue
		}
		n, err := parseNode(row)
		if err != nil {
			return err
		}
		if seen[n.parent] || t.folders[n.parent] != nil || cache != nil && cache.get(n.parent) != nil {
			continue
		}
		seen[n.parent] = true
		keys = append(keys, layout.NodeKey(n.parent))
	}
	if len(keys) < 2 {
		return nil
	}
	return t.kv.Prefetch(keys)
}

// Ahead tells that documents are about to be read one after the other. It changes no result: a store across a network fetches all of
// those that are named by identifiers at once.
func Ahead(t *Tx, refs Refs) error {
	if !t.kv.Remote() || len(refs) < 2 {
		return nil
	}
	var all []layout.ID
	for _, ref := range refs {
		if path, id, ok := t.repo.parseRef(ref); ok && path == "" {
			all = append(all, id)
		}
	}
	for ids := range slices.Chunk(all, mostAtOnce) {
		if err := t.ahead(ids); err != nil {
			return err
		}
		nodes := make([][]byte, len(ids))
		for i, id := range ids {
			var err error
			if nodes[i], err = t.kv.Get(layout.NodeKey(id)); err != nil {
				return err
			}
		}
		if err := t.parentsAhead(nodes); err != nil {
			return err
		}
	}
	t.accompany(all)
	return nil
}

// mostAtOnce is how many documents are fetched in one round trip.
const mostAtOnce = 1000
