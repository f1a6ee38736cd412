package badger

import (
	"bytes"
	"slices"
	"sync"

	"catena/storage/kv"
)

// pendingBytes is how much may be committed and not yet in Badger; above that commits
// wait.
const pendingBytes = 8 << 20

// pending is the groups that are committed and seen by readers, while Badger does not
// have them yet: a commit is answered once it is in the log, and Badger takes it over
// behind its back. The lock also makes a version and the groups up to it one thing for
// those who begin.
type pending struct {
	mu     sync.Mutex
	more   sync.Cond // there is a group, or there will be none
	less   sync.Cond // Badger has taken over some
	groups []*group  // oldest first; the part a reader holds never changes
	bytes  int
	ended  bool
	stuck  bool // nothing is taken over any more
}

func (p *pending) init() { p.more.L, p.less.L = &p.mu, &p.mu }

// publish lets readers see a group.
func (p *pending) publish(g *group, h *kv.History) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.bytes > pendingBytes && !p.stuck {
		p.less.Wait()
	}
	p.groups = append(p.groups, g)
	p.bytes += g.bytes
	h.Publish(g.last())
	p.more.Signal()
}

// begin marks the published version as being read and returns the groups that belong
// to it.
func (p *pending) begin(h *kv.History, write bool) (*kv.Mark, []*group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.Begin(write), p.groups[:len(p.groups):len(p.groups)]
}

// next waits for groups that Badger does not have; there are none at the end.
func (p *pending) next() []*group {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.groups) == 0 && !p.ended {
		p.more.Wait()
	}
	return p.groups
}

// done removes groups that Badger has taken over.
func (p *pending) done(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, g := range p.groups[:n] {
		p.bytes -= g.bytes
	}
	p.groups = slices.Clone(p.groups[n:])
	p.less.Signal()
}

// keep leaves the groups to readers for good.
func (p *pending) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = true
	p.less.Signal()
}

// end says that no group follows.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.more.Signal()
}

// merge fills g.rows: what the group wrote, by key, the last write of each.
func (g *group) merge() {
	if len(g.requests) == 1 {
		g.rows = g.requests[0].batch.Writes
		return
	}
	n := 0
	for _, r := range g.requests {
		n += len(r.batch.Writes)
	}
	rows := make([]kv.Mutation, 0, n)
	for _, r := range slices.Backward(g.requests) {
		rows = append(rows, r.batch.Writes...)
	}
	slices.SortStableFunc(rows, func(a, b kv.Mutation) int { return bytes.Compare(a.Key, b.Key) })
	g.rows = slices.CompactFunc(rows, func(a, b kv.Mutation) bool { return bytes.Equal(a.Key, b.Key) })
}

// last is the version of the group's last transaction.
func (g *group) last() uint64 { return g.first + uint64(len(g.requests)) - 1 }

// find returns the position of the first row whose key is not below key.
func (g *group) find(key []byte) (int, bool) {
	return slices.BinarySearchFunc(g.rows, key, func(m kv.Mutation, key []byte) int { return bytes.Compare(m.Key, key) })
}

// within returns the rows of a range.
func (g *group) within(r kv.Range) []kv.Mutation {
	from, _ := g.find(r.Start)
	to := len(g.rows)
	if r.End != nil {
		to, _ = g.find(r.End)
	}
	return g.rows[from:max(from, to)]
}

// overlay is a cursor over Badger's rows with those of pending groups on top.
type overlay struct {
	cursor
	tops   [][]kv.Mutation // rows still to come, those of the newest group first
	left   int             // rows still wanted, negative for all
	behind bool            // the row of cursor was handed out or hidden
	has    bool            // cursor stands on a row
	key    []byte
	value  []byte
}

// Next moves to the next row.
func (o *overlay) Next() bool {
	if o.left == 0 {
		return false
	}
	for {
		if o.behind {
			o.has, o.behind = o.cursor.Next(), false
		}
		if o.err != nil {
			return false
		}
		at := o.first()
		switch {
		case at < 0 && !o.has:
			return false
		case at < 0 || o.has && o.order(o.cursor.key, o.top(at).Key) < 0:
			o.key, o.value, o.behind = o.cursor.key, o.cursor.value, true
		default:
			m := o.take(at)
			if m.Value == nil {
				continue
			}
			if o.key, o.value = m.Key, m.Value; o.r.KeysOnly {
				o.value = nil
			}
		}
		o.left--
		return true
	}
}

// first is the pending list whose row comes next, -1 if all have ended. Of equal rows
// the newest is first.
func (o *overlay) first() int {
	at := -1
	for i, rows := range o.tops {
		if len(rows) > 0 && (at < 0 || o.order(o.top(i).Key, o.top(at).Key) < 0) {
			at = i
		}
	}
	return at
}

// take takes the row off its list, and what it hides off the others.
func (o *overlay) take(at int) kv.Mutation {
	m := *o.top(at)
	for i := at; i < len(o.tops); i++ {
		if rows := o.tops[i]; len(rows) > 0 && bytes.Equal(o.top(i).Key, m.Key) {
			if o.r.Reverse {
				o.tops[i] = rows[:len(rows)-1]
			} else {
				o.tops[i] = rows[1:]
			}
		}
	}
	if o.has && bytes.Equal(o.cursor.key, m.Key) {
		o.behind = true
	}
	return m
}

func (o *overlay) top(i int) *kv.Mutation {
	if o.r.Reverse {
		return &o.tops[i][len(o.tops[i])-1]
	}
	return &o.tops[i][0]
}

func (o *overlay) order(a, b []byte) int {
	if o.r.Reverse {
		a, b = b, a
	}
	return bytes.Compare(a, b)
}

// Key is the present key.
func (o *overlay) Key() []byte { return o.key }

// Value is the present value.
func (o *overlay) Value() ([]byte, error) { return o.value, nil }
