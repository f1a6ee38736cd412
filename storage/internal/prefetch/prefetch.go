// Package prefetch predicts what a request will ask a store across a network for, from what requests of its kind have asked for
// before, so that all of it is fetched in one round trip. What it says are hints: a request that does something else asks again.
package prefetch

import (
	"bytes"
	"hash/maphash"
	"sync"

	"catena/storage/kv"
)

// ID identifies the document that the address of a request names; all zeros, none. Requests of a kind ask for the same, each for
// its own document.
type ID [16]byte

// History is what requests have asked for. The zero value has none.
type History struct {
	once       sync.Once
	seed       maphash.Seed
	mu         sync.Mutex
	young, old map[uint64]*kind
	size       int // of young
}

const (
	maxKinds = 1000    // that are remembered at least, if their keys have no more than maxBytes, and twice as many are at most
	maxBytes = 4 << 20 // of keys
	maxAsked = 2000    // keys and ranges of a request; one that asks for more is not predicted
	maxUses  = 256     // of a prediction before it is made again, without what is not needed any longer
	maxPause = 1024    // requests of a kind that are left alone since predictions for it were wrong
	minRight = 3       // predictions that have to be right before one is wrong and the others are made all the same
)

// kind is what is known of the requests of a kind. What two of them in turn have asked for is expected of the next one.
type kind struct {
	asked  []pattern
	sure   bool
	uses   int
	right  int // predictions since the last one that was wrong
	pause  int // so many requests are left alone
	failed int // predictions that were wrong
}

// Request is one for a document, or for none.
type Request struct {
	of        uint64 // the kind
	id        ID
	predicted bool
}

// Request returns a request for a document. What it is like says which kind it is of.
func (h *History) Request(id ID, like ...string) Request {
	h.once.Do(func() { h.seed = maphash.MakeSeed() })
	var sum maphash.Hash
	sum.SetSeed(h.seed)
	for _, s := range like {
		_, _ = sum.WriteString(s)
		_ = sum.WriteByte(0)
	}
	return Request{of: sum.Sum64(), id: id}
}

// Ahead returns what a request will probably ask for late.
func (h *History) Ahead(r *Request) (ahead kv.Asked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := h.find(r.of)
	if r.predicted = k != nil && k.sure; !r.predicted {
		return ahead
	}
	for i := range k.asked {
		k.asked[i].add(&ahead, r.id)
	}
	return ahead
}

// Learn says what a request has asked for late, besides what was predicted.
func (h *History) Learn(r *Request, late kv.Asked) {
	h.mu.Lock()
	defer h.mu.Unlock()
	k, n := h.find(r.of), len(late.Keys)+len(late.Ranges)
	switch {
	case k == nil && n == 0: // one round trip is all that requests of the kind need
		return
	case k == nil:
		k = &kind{}
		h.put(r.of, k)
	case k.pause > 0:
		k.pause--
		return
	case k.sure && !r.predicted: // it began before that was known
		return
	case k.sure:
		h.judge(k, n == 0)
		return
	}
	if n > maxAsked {
		h.clear(k, kind{pause: maxPause})
		return
	}
	now := patterns(r.id, late)
	if both := common(k.asked, now); len(both) > 0 {
		now, k.sure = both, true
	}
	h.size += size(now) - size(k.asked)
	if k.asked = now; h.size > maxBytes {
		h.turn()
	}
}

// judge says whether a prediction was all that was asked for.
func (h *History) judge(k *kind, right bool) {
	switch {
	case right:
		k.right++
		if k.uses++; k.uses == maxUses {
			h.clear(k, kind{right: k.right})
		}
	case k.right >= minRight: // some requests ask for more, as one that counts what is counted once in a while
		k.right, k.failed = 0, 0
	default:
		failed := k.failed + 1
		h.clear(k, kind{failed: failed, pause: min(maxPause, 1<<min(failed, 16))})
	}
}

func (h *History) clear(k *kind, to kind) {
	h.size -= size(k.asked)
	*k = to
}

func (h *History) find(of uint64) *kind {
	if k := h.young[of]; k != nil {
		return k
	}
	k := h.old[of]
	if k != nil {
		h.put(of, k)
	}
	return k
}

func (h *History) put(of uint64, k *kind) {
	if h.young == nil || len(h.young) >= maxKinds {
		h.turn()
	}
	h.young[of] = k
	h.size += size(k.asked)
}

// turn forgets the kinds that were not asked for since it was called last.
func (h *History) turn() { h.old, h.young, h.size = h.young, map[uint64]*kind{}, 0 }

// pattern is a key, or a range, in which the id of the document may stand.
type pattern struct {
	kv.Range // Start is the key, or where the range starts, without the id
	key      bool
	at       int // where the id stands in Start; -1: nowhere
	within   int // End is that of all keys that begin with so many bytes of Start; 0: it is what it is
}

func patterns(id ID, asked kv.Asked) []pattern {
	all := make([]pattern, 0, len(asked.Keys)+len(asked.Ranges))
	for _, k := range asked.Keys {
		all = append(all, patternOf(id, kv.Range{Start: k}, true))
	}
	for _, r := range asked.Ranges {
		all = append(all, patternOf(id, r, false))
	}
	return all
}

func patternOf(id ID, r kv.Range, key bool) pattern {
	p := pattern{Range: r, key: key, at: -1}
	p.Start, p.End = bytes.Clone(r.Start), bytes.Clone(r.End)
	if id != (ID{}) {
		p.at = bytes.Index(p.Start, id[:])
	}
	if p.at >= 0 {
		for _, n := range []int{len(p.Start), p.at + len(id)} {
			if end := kv.Prefix(p.Start[:n]).End; p.End != nil && bytes.Equal(end, p.End) {
				p.within, p.End = n, nil
				break
			}
		}
		clear(p.Start[p.at : p.at+len(id)])
	}
	return p
}

// add adds what stands for the pattern in a request for a document.
func (p *pattern) add(to *kv.Asked, id ID) {
	r := p.Range
	if p.at >= 0 {
		if id == (ID{}) {
			return
		}
		r.Start = bytes.Clone(r.Start)
		copy(r.Start[p.at:], id[:])
	}
	if p.key {
		to.Keys = append(to.Keys, r.Start)
		return
	}
	if p.within > 0 {
		r.End = kv.Prefix(r.Start[:p.within]).End
	}
	to.Ranges = append(to.Ranges, r)
}

// common returns what is in both lists, with the larger limits.
func common(a, b []pattern) (both []pattern) {
	if len(a) == 0 {
		return nil
	}
	at := make(map[form]int, len(b))
	for i := range b {
		at[b[i].form()] = i
	}
	for _, p := range a {
		if i, ok := at[p.form()]; ok {
			p.Limit = max(p.Limit, b[i].Limit)
			both = append(both, p)
		}
	}
	return both
}

// form is what two patterns that match have in common.
type form struct {
	start, end                         string
	at, within, follow                 int
	key, reverse, keysOnly, count, all bool
}

func (p *pattern) form() form {
	return form{string(p.Start), string(p.End), p.at, p.within, len(p.Follow), p.key, p.Reverse, p.KeysOnly, p.CountOnly, p.End == nil}
}

func size(all []pattern) (n int) {
	for i := range all {
		n += 100 + len(all[i].Start) + len(all[i].End)
	}
	return n
}
