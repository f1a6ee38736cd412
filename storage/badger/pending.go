package badger

import (
	"bytes"
	"slices"
	"sync"

	"catena/storage/kv"
)

const (
	// applyBytes is how much is committed before Badger takes it over: rows of many
	// transactions in order are cheaper for it than those of each.
	applyBytes = 1 << 20
	// joinBytes is how large runs become by joining: every doubling moves all rows once more, and readers
	// find their way in a few large ones as well.
	joinBytes = 128 << 10
	// pendingBytes is how much may be committed and not yet in Badger; above that
	// commits wait before they are logged, so that one whose time has expired has done nothing.
	pendingBytes = 8 << 20
	// fanout is how many runs of a size become one of the next.
	fanout = 4
)

// pending is the runs that are committed and seen by readers, while Badger does not
// have them yet: a commit is answered once it is in the log, and Badger takes over a
// megabyte at a time, or what a second brought, behind its back. The lock also makes a version and the runs up to
// it one thing for those who begin.
type pending struct {
	mu    sync.Mutex
	more  sync.Cond     // there is enough to take over, or nothing follows
	less  chan struct{} // closed once Badger has taken over some
	runs  []*run        // oldest first; the part a reader holds never changes
	taken int           // that many are being taken over
	bytes int
	soon  bool // little is enough
	ended bool
	stuck bool // nothing is taken over any longer
}

func (p *pending) init() { p.more.L, p.less = &p.mu, make(chan struct{}) }

// behind returns what is closed once Badger has taken over some of what waits for it, or nil if so little waits that more
// may be committed.
func (p *pending) behind() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bytes <= pendingBytes || p.stuck {
		return nil
	}
	return p.less
}

// shrunk wakes those who wait until less is pending.
func (p *pending) shrunk() {
	close(p.less)
	p.less = make(chan struct{})
}

// publish lets readers see a run.
func (p *pending) publish(r *run, h *kv.History) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += r.bytes
	p.runs = append(p.runs, r)
	p.settle()
	h.Publish(r.last)
	if p.bytes >= applyBytes {
		p.more.Signal()
	}
}

// settle joins the newest runs while fanout of them are about as large as each other,
// so that readers have few to look at, up to joinBytes. Readers keep the
// list they have.
func (p *pending) settle() {
	for {
		n := len(p.runs)
		from := n - fanout
		if from < p.taken || len(p.runs[from].rows) >= fanout*len(p.runs[n-1].rows) {
			return
		}
		size := 0
		for _, r := range p.runs[from:] {
			size += r.bytes
		}
		if size > joinBytes {
			return
		}
		one := join(p.runs[from:])
		p.bytes -= size
		p.bytes += one.bytes
		p.runs = append(slices.Clone(p.runs[:from]), one)
	}
}

// begin marks the published version as being read and returns the runs that belong to
// it.
func (p *pending) begin(h *kv.History, write bool) (*kv.Mark, []*run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return h.Begin(write), p.runs[:len(p.runs):len(p.runs)]
}

// next waits for runs worth taking over; there are none at the end.
func (p *pending) next() []*run {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.bytes < applyBytes && !p.ended && (!p.soon || len(p.runs) == 0) {
		p.more.Wait()
	}
	for size := 0; p.taken < len(p.runs) && size < applyBytes; p.taken++ {
		size += p.runs[p.taken].bytes
	}
	p.soon = false
	return p.runs[:p.taken]
}

// hurry has Badger take over what there is.
func (p *pending) hurry() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.soon = len(p.runs) > 0
	p.more.Signal()
}

// done removes the runs that Badger has taken over.
func (p *pending) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.runs[:p.taken] {
		p.bytes -= r.bytes
	}
	p.runs, p.taken = slices.Clone(p.runs[p.taken:]), 0
	p.shrunk()
}

// empty reports whether Badger has taken over everything.
func (p *pending) empty() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs) == 0
}

// keep leaves the runs to readers for good.
func (p *pending) keep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stuck = true
	p.shrunk()
}

// end says that no run follows.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.more.Signal()
}

// ending reports whether no run follows.
func (p *pending) ending() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// overlay is a cursor over Badger's rows with those of pending runs on top.
type overlay struct {
	cursor
	tops   [][]kv.Mutation // rows still to come, those of the newest run first
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
			o.has, o.behind = o.step(), false
		}
		if o.err != nil {
			return false
		}
		at := o.first()
		switch {
		case at < 0 && !o.has:
			return false
		case at < 0 || o.has && o.order(o.cursor.key, o.top(at).Key) < 0:
			if !o.load() {
				return false
			}
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
