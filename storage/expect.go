package storage

import (
	"context"
	"strings"

	"catena/storage/internal/layout"
)

// expectedRef is the key of what a context says that its transactions begin with.
type expectedRef struct{}

// Expecting returns a context whose transactions will probably begin with a document. Where the store is across a network, its rows
// are then fetched together with those that say who the caller is, instead of after them. It changes no result.
func (r *Repo) Expecting(ctx context.Context, ref Ref) context.Context {
	if !r.shared || ref == "" {
		return ctx
	}
	return context.WithValue(ctx, expectedRef{}, ref)
}

// expected are the keys of what the transaction will probably read first. Where a path leads is guessed from the folders that are
// known, which may be outdated: what is read then is what is there.
func (t *Tx) expected() [][]byte {
	ref, ok := t.ctx.Value(expectedRef{}).(Ref)
	if !ok {
		return nil
	}
	path, id, ok := t.repo.parseRef(ref)
	if !ok {
		return nil
	}
	if path == "" {
		return [][]byte{layout.NodeKey(id), layout.RecordKey(id)}
	}
	known := t.repo.tree.Load()
	if known == nil {
		return nil
	}
	if f := known.at(path); f != nil {
		return [][]byte{layout.NodeKey(f.id), layout.RecordKey(f.id)}
	}
	cut := strings.LastIndexByte(path, '/')
	if f := known.at(path[:max(cut, 1)]); f != nil && cut < len(path)-1 {
		return [][]byte{layout.ChildNameKey(f.id, path[cut+1:])}
	}
	return nil
}

// Ahead has a store across a network fetch in one round trip what is about to be asked about documents: for ACLs, if lists is set,
// and for Ancestors, if above is set.
func (t *Tx) Ahead(docs Docs, lists, above bool) error {
	if !t.kv.Remote() {
		return nil
	}
	h := t.identities()
	var keys [][]byte
	seen, folders := map[layout.ListID]bool{}, map[layout.ID]bool{}
	for _, d := range docs {
		if !d.saved || d.up == nil {
			continue
		}
		if lists {
			for _, id := range append([]layout.ListID{d.acl}, d.up.acls...) {
				if seen[id] || id == (layout.ListID{}) {
					continue
				}
				seen[id] = true
				keys = append(keys, t.listAhead(h, id)...)
			}
		}
		for f := d.up; above && f != nil && !folders[f.id]; f = f.up {
			folders[f.id] = true
			keys = append(keys, layout.NodeKey(f.id), layout.RecordKey(f.id))
		}
	}
	return t.kv.Prefetch(keys)
}

// listAhead are the keys that decide for whom the entries of an access list are, or that of the list if it is not known.
func (t *Tx) listAhead(h identities, id layout.ListID) [][]byte {
	c := &t.repo.access
	c.mu.RLock()
	lists, ok := c.lists[id]
	c.mu.RUnlock()
	if !ok {
		return [][]byte{layout.ListKey(id)}
	}
	return h.keys(lists)
}

// AheadPath has a store across a network fetch in one round trip what is read on the way down a path, as far as its folders are
// known.
func (t *Tx) AheadPath(path string) error {
	known := t.repo.tree.Load()
	if !t.kv.Remote() || known == nil {
		return nil
	}
	var keys [][]byte
	at := known.get(t.repo.root)
	for end, start := 0, 1; at != nil && start <= len(path); start = end + 1 {
		keys = append(keys, layout.NodeKey(at.id), layout.RecordKey(at.id))
		name, _, _ := strings.Cut(path[start:], "/")
		keys = append(keys, layout.ChildNameKey(at.id, name))
		end = start + len(name)
		at = known.at(path[:end])
	}
	return t.kv.Prefetch(keys)
}
