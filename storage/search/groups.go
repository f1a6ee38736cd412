package search

import (
	"bytes"
	"errors"

	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/kv"
)

// An access path may have the order of the first items of ORDER BY only. Rows with the same values of them are a group, which is sorted by
// the other items. If there are many in a group, such as all documents of a creator, and an index has the order of the next item, its rows
// are walked instead, and those of other groups are left out: for a page of a group that most documents are in, few are read.

// errManyAlike says that a group is long.
var errManyAlike = fault.Internal.Errorf("query: many rows have the same values")

// groups walks the groups of a scan in order.
type groups struct {
	*scan
	visit func(m match) (bool, error)
	from  *cursor // nothing up to here is wanted; nil: everything is

	first []byte // the values of the present group
	last  []byte // a sort key of it
	count int    // rows of it so far
	loads int    // that the scan had read documents before it
	asked []byte // the group of which long was decided
	other *plan  // walks the present group by another index
	more  bool   // further results are wanted
}

// grouped is for an access path that has the order of the first items.
func (r *scan) grouped(from *cursor, visit func(m match) (bool, error)) error {
	g := groups{scan: r, visit: visit, from: from, more: true}
	var after []byte
	if from != nil {
		var err error
		// The group of the cursor has to be sorted as a whole again, and what came before in it is skipped.
		if after, err = g.beside(from.key, false); err != nil {
			return err
		}
	}
	for {
		err := g.sorted(after)
		if !errors.Is(err, errManyAlike) {
			return err
		}
		whole, err := g.walk()
		if err != nil || !g.more {
			return err
		}
		if after, err = g.beside(g.last, whole); err != nil {
			return err
		}
	}
}

// beside returns a key between the rows of the group of a sort key and those before them in the order, or those behind them.
func (g *groups) beside(key []byte, behind bool) ([]byte, error) {
	row, err := g.rowAt(key)
	if err != nil {
		return nil, err
	}
	if g.p.reverse != behind {
		return kv.Prefix(row).End, nil
	}
	return row, nil // those of the group have an id behind it
}

// sorted sorts each group behind a row. It ends with errManyAlike if one is long and another index may give its order.
func (g *groups) sorted(after []byte) error {
	s := sorter{scan: g.scan}
	g.first = nil
	err := g.each(g.p.reverse, after, func(h *candidate) (bool, error) {
		k, err := g.hold(h)
		if err != nil {
			return false, err
		}
		if part := g.p.leading(k.key); !bytes.Equal(part, g.first) {
			if g.more, err = s.emit(g.visit); err != nil || !g.more {
				return false, err
			}
			g.first, g.count, g.loads = part, 0, g.scan.loads
		}
		if g.count++; g.long() {
			g.last = k.key
			return false, errManyAlike
		}
		if g.from != nil && bytes.Compare(k.key, g.from.key) <= 0 {
			return true, nil
		}
		return true, s.add(k)
	})
	if err != nil || !g.more {
		return err
	}
	_, err = s.emit(g.visit)
	return err
}

// long reports whether so many documents of the present group were read for their order that it is rather walked by another index.
func (g *groups) long() bool {
	if g.count <= g.t.costs.sorted || g.scan.loads-g.loads <= g.count/2 || bytes.Equal(g.first, g.asked) {
		return false
	}
	g.asked, g.other = g.first, g.t.planGroup(g.p, g.first)
	return g.other != nil
}

// walk visits the results of the present group in the order of an index that begins with the next item of ORDER BY. It is not whole if that
// turned out to cost more than sorting the group; what was visited stays so.
func (g *groups) walk() (whole bool, err error) {
	row, err := g.rowAt(g.last)
	if err != nil {
		return false, err
	}
	n := g.t.scan(g.other, g.other.path)
	n.keep, n.begun, n.most, n.known, n.shown = g.keep, g.begun, g.most, g.known, g.shown
	alike, factor := []*accessPath{{ranges: []kv.Range{kv.Prefix(row)}}}, g.t.costs.factor
	n.patience = max(1, g.count*factor/2)
	n.enough = func() bool { // when half of what sorting all of them costs is spent; the more is spent, the further they are counted
		n.patience = g.t.rowsOf(alike, 4*n.cost()/factor+1) * factor / 2
		return n.patience <= n.cost()
	}
	err = n.ordered(g.from.inGroup(g.first), func(m match) (bool, error) {
		values, err := n.sortValues(m.candidate, g.p.order[:g.p.lead])
		if err != nil || !bytes.Equal(values, g.first) {
			return true, err
		}
		key, err := n.sortKey(m.candidate)
		if err != nil {
			return false, err
		}
		g.from = &cursor{key: append(values, key...)}
		g.more, err = g.visit(m)
		return g.more, err
	})
	if errors.Is(err, errPatience) {
		return false, nil
	}
	return true, err
}

// planGroup is the plan for the results with the same first values, along an index that has the order of the next item; nil if none has.
func (t planner) planGroup(p *plan, first []byte) *plan {
	if p.path.field == nil || p.lead >= len(p.order) {
		return nil
	}
	n := *p
	n.order, n.before = p.order[p.lead:], append(bytes.Clone(p.before), first...)
	n.ordered, n.plain, n.counter, n.finders, n.fallback = nil, nil, nil, nil, nil
	order := t.orderPath(&n, n.paths(t), n.typePath(t))
	if order == nil || order.field == nil {
		return nil
	}
	if n.usePath(order); n.lead == 0 {
		return nil
	}
	return &n
}

// inGroup is the cursor in a group, nil if it lies before.
func (c *cursor) inGroup(first []byte) *cursor {
	if c == nil || !bytes.HasPrefix(c.key, first) {
		return nil
	}
	return &cursor{key: c.key[len(first):]}
}

// leading returns the part of a sort key that the access path orders by.
func (p *plan) leading(key []byte) []byte {
	n := 0
	for range p.lead {
		n += layout.ValueLen(key[n:])
	}
	return key[:n]
}
