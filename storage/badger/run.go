package badger

import (
	"bytes"
	"hash/maphash"
	"slices"

	"catena/storage/kv"
)

// run is rows that are committed and not in Badger, each key once and in order, with an
// index of the keys' hashes. It never changes.
type run struct {
	rows   []kv.Mutation
	hashes []uint64 // of the keys
	slots  []uint32 // by hash: a position in rows plus one, or zero
	bytes  int
	first  uint64 // version of the first transaction in it
	last   uint64 // and of the last
}

// newRun indexes rows, whose hashes are known.
func newRun(rows []kv.Mutation, hashes []uint64) *run {
	size := 8
	for size < 2*len(rows) {
		size *= 2
	}
	r := &run{rows: rows, hashes: hashes, slots: make([]uint32, size)}
	mask := uint64(size - 1)
	for i, h := range hashes {
		at := h & mask
		for r.slots[at] != 0 {
			at = (at + 1) & mask
		}
		r.slots[at] = uint32(i + 1)
		r.bytes += len(rows[i].Key) + len(rows[i].Value)
	}
	return r
}

// runOf is the run of one transaction's writes.
func runOf(writes []kv.Mutation, seed maphash.Seed) *run {
	hashes := make([]uint64, len(writes))
	for i := range writes {
		hashes[i] = maphash.Bytes(seed, writes[i].Key)
	}
	return newRun(writes, hashes)
}

// get returns the write of a key, nil if the run has none.
func (r *run) get(key []byte, hash uint64) *kv.Mutation {
	mask := uint64(len(r.slots) - 1)
	for at := hash & mask; r.slots[at] != 0; at = (at + 1) & mask {
		i := r.slots[at] - 1
		if r.hashes[i] == hash && bytes.Equal(r.rows[i].Key, key) {
			return &r.rows[i]
		}
	}
	return nil
}

// find returns the position of the first row whose key is not below key.
func (r *run) find(key []byte) int {
	i, _ := slices.BinarySearchFunc(r.rows, key, func(m kv.Mutation, key []byte) int { return bytes.Compare(m.Key, key) })
	return i
}

// within returns the rows of a range.
func (r *run) within(g kv.Range) []kv.Mutation {
	from, to := r.find(g.Start), len(r.rows)
	if g.End != nil {
		to = r.find(g.End)
	}
	return r.rows[from:max(from, to)]
}

// join makes one run of several that follow each other, oldest first. Of the writes of
// a key the newest stays.
func join(runs []*run) *run {
	if len(runs) == 1 {
		return runs[0]
	}
	rows, hashes := merge(runs)
	out := newRun(rows, hashes)
	out.first, out.last = runs[0].first, runs[len(runs)-1].last
	return out
}

// merge merges halves, so that every row moves only as often as the runs can be halved.
func merge(runs []*run) ([]kv.Mutation, []uint64) {
	if len(runs) == 1 {
		return runs[0].rows, runs[0].hashes
	}
	a, aHash := merge(runs[:len(runs)/2])
	b, bHash := merge(runs[len(runs)/2:])
	rows := make([]kv.Mutation, 0, len(a)+len(b))
	hashes := make([]uint64, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch c := bytes.Compare(a[0].Key, b[0].Key); {
		case c < 0:
			rows, hashes = append(rows, a[0]), append(hashes, aHash[0])
			a, aHash = a[1:], aHash[1:]
			continue
		case c == 0:
			rows, hashes = append(rows, b[0]), append(hashes, bHash[0])
			last := &rows[len(rows)-1]
			last.Create, last.Fresh = a[0].Create, a[0].Fresh // whether there is something to replace, the first write says
			a, aHash = a[1:], aHash[1:]
		default:
			rows, hashes = append(rows, b[0]), append(hashes, bHash[0])
		}
		b, bHash = b[1:], bHash[1:]
	}
	return append(append(rows, a...), b...), append(append(hashes, aHash...), bHash...)
}
