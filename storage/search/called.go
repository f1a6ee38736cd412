package search

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// Called walks the readable children of a folder, in order, that have one of some texts as their name, their title or the name of
// file:content; perhaps others, too. Those in the trash, versions and proxies may be left out. It reads what indexes have of the texts,
// not the folder, unless the folder is the smaller one.
func Called(t *storage.Tx, folder *storage.Doc, texts ...string) iter.Seq2[*storage.Doc, error] {
	return func(yield func(*storage.Doc, error) bool) {
		in := t.Internal(row.Ordered{})
		c := calls{in: in, folder: in.ID(folder), whole: !in.Usable(layout.FileIndex) || !in.Usable("dc:title"), factor: stateOf(t.Repo()).costs.factor}
		err := c.ahead(texts)
		for _, text := range texts {
			if err == nil && !c.whole {
				err = c.gather(t, folder, text)
			}
		}
		switch {
		case err != nil:
			yield(nil, err)
		case c.whole:
			t.EachChild(folder)(yield)
		default:
			c.each(yield)
		}
	}
}

// calls are the children of a folder that may be called by texts.
type calls struct {
	in     storage.Internal
	folder layout.ID
	found  []called
	whole  bool // it is better to walk through all of them
	factor int  // rows that cost as much as reading a document
}

type called struct {
	position int64
	id       layout.ID
}

// ahead has a store across a network fetch in one round trip what gather reads.
func (c *calls) ahead(texts []string) error {
	if c.whole || !c.in.KV().Remote() {
		return nil
	}
	var keys [][]byte
	var ranges []kv.Range
	for _, text := range texts {
		keys = append(keys, layout.ChildNameKey(c.folder, text))
		ranges = append(ranges, rowsOf(c.in, "dc:title", text), c.files(text))
	}
	for i := range ranges {
		ranges[i].Limit = mostAhead
	}
	return c.in.KV().Prefetch(keys, ranges...)
}

// files are the rows of a name that main files in the folder have.
func (c *calls) files(name string) kv.Range {
	key := append(c.in.Dictionary().IndexPrefix(layout.FileIndex), c.folder[:]...)
	return kv.Prefix(kv.AppendString(key, name[:min(len(name), layout.MaxIndexed)]))
}

// gather adds those that are called by a text.
func (c *calls) gather(t *storage.Tx, folder *storage.Doc, text string) error {
	switch d, err := t.Child(folder, text); {
	case err == nil:
		c.found = append(c.found, called{d.Position(), c.in.ID(d)})
	case !fault.Is(err, fault.NotFound):
		return err
	}
	if err := c.scan(c.files(text)); err != nil {
		return err
	}
	return c.scan(rowsOf(c.in, "dc:title", text))
}

// fewCalled is of how many documents a title is looked up whatever the size of the folder. Beyond that, the folder is the better way
// if it has fewer children than the title has rows, of which each costs a tenth of a child.
const fewCalled = 256

// scan adds those children that rows of an index are of.
func (c *calls) scan(r kv.Range) error {
	n, next := 0, fewCalled
	for found, err := range c.in.KV().Scan(r) {
		var cover layout.Cover
		if err == nil {
			err = cover.Parse(c.in.Dictionary(), found.Value)
		}
		if err != nil {
			return err
		}
		if cover.Parent == c.folder && cover.Flags&(layout.Version|layout.Proxy|layout.Trashed) == 0 {
			c.found = append(c.found, called{cover.Position, layout.IDAtEnd(found.Key)})
		}
		if n++; n == next {
			next *= 4
			_, more, err := c.in.KV().Count(kv.Prefix(layout.ChildrenPrefix(c.folder)), n/c.factor)
			if c.whole = !more; err != nil || c.whole {
				return err
			}
		}
	}
	return nil
}

// each reads the children in their order.
func (c *calls) each(yield func(*storage.Doc, error) bool) {
	slices.SortFunc(c.found, func(a, b called) int {
		return cmp.Or(cmp.Compare(a.position, b.position), bytes.Compare(a.id[:], b.id[:]))
	})
	for _, x := range slices.Compact(c.found) {
		d, err := c.in.Load(x.id)
		if err == nil && (d == nil || !c.in.CanRead(d)) {
			continue
		}
		if !yield(d, err) || err != nil {
			return
		}
	}
}
