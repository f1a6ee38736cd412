package badger

import (
	"math/bits"
	"sync"
	"sync/atomic"

	"catena/storage/badger/values"
)

const (
	pointerShards = 256
	// mostPlaces is how many are known at most, of 31 bytes each at worst.
	mostPointers = 4 << 20
	leastSpots   = 16 // of a shard
)

// pointerCache are where the values of keys are that are in files, as far as is known: a read then asks no
// table, of which there are the more the larger the store is. Keys are known by a hash, so what is found at a place has to be
// asked whose it is. What belongs here changes as runs are applied, before readers stop having those runs. Where
// nothing is known, for a snapshot that is too old or for want of room, the tables are asked.
type pointerCache struct {
	applied atomic.Uint64    // version of the last run that is being applied or was
	kinds   [256]atomic.Bool // first bytes of keys that places were noted of: no other needs to be looked for
	shards  [pointerShards]pointerShard
}

// pointerShard is a hash table with linear probing. A spot's home is its tag's share of the table.
type pointerShard struct {
	mu    sync.RWMutex
	spots []spot
	used  int
}

// spot is the pointer of a key at a version and later.
type spot struct {
	values.Pointer // of file 0 if the spot is free
	tag            uint32
	version        uint64
}

func (p *pointerCache) shard(hash uint64) (s *pointerShard, tag uint32) {
	return &p.shards[hash>>56], uint32(hash)
}

// find returns where the value of a key is for those who read at a version.
func (p *pointerCache) find(key []byte, hash, version uint64) (values.Pointer, bool) {
	if !p.kinds[key[0]].Load() {
		return values.Pointer{}, false
	}
	s, tag := p.shard(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at, ok := s.search(tag); ok && s.spots[at].version <= version {
		return s.spots[at].Pointer, true
	}
	return values.Pointer{}, false
}

// follow notes what a run changes, which Badger takes as rows.
func (p *pointerCache) follow(r *run, rows []row) {
	p.applied.Store(r.last) // what was read before may be out of date
	for i, w := range rows {
		switch {
		case w.mark == elsewhere:
			at, _ := values.ParsePointer(w.value)
			p.put(w.key, r.hashes[i], at, r.last)
		case !r.rows[i].Create && !r.rows[i].Fresh:
			p.remove(w.key, r.hashes[i])
		}
	}
}

// put notes where a value is that a run brings, or that was moved.
func (p *pointerCache) put(key []byte, hash uint64, at values.Pointer, version uint64) {
	p.kinds[key[0]].Store(true)
	s, tag := p.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.set(spot{at, tag, version})
}

// learn notes where a value is whose row was read at a version.
func (p *pointerCache) learn(key []byte, hash uint64, at values.Pointer, version, read uint64) {
	p.kinds[key[0]].Store(true) // before applied is read: anyone who applies a run writes that first, and reads this after
	s, tag := p.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if read < p.applied.Load() {
		return
	}
	if i, ok := s.search(tag); !ok || s.spots[i].version < version {
		s.set(spot{at, tag, version})
	}
}

// remove forgets a key that has no value in a file any longer.
func (p *pointerCache) remove(key []byte, hash uint64) {
	if !p.kinds[key[0]].Load() {
		return
	}
	s, tag := p.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.search(tag)
	if !ok {
		return
	}
	s.used--
	// Those that follow move up, unless that would put them before their home.
	for next := s.after(at); s.spots[next].File != 0; next = s.after(next) {
		if s.way(s.home(s.spots[next].tag), next) >= s.way(at, next) {
			s.spots[at], at = s.spots[next], next
		}
	}
	s.spots[at] = spot{}
}

// search returns the spot of a tag, or the free one where it belongs.
func (s *pointerShard) search(tag uint32) (at int, ok bool) {
	if len(s.spots) == 0 {
		return 0, false
	}
	for at = s.home(tag); s.spots[at].File != 0; at = s.after(at) {
		if s.spots[at].tag == tag {
			return at, true
		}
	}
	return at, false
}

// set puts a spot in place of what its tag has, or of any other if there is no room.
func (s *pointerShard) set(one spot) {
	at, ok := s.search(one.tag)
	switch {
	case ok:
	case s.used >= mostPointers/pointerShards:
		at = s.home(one.tag)
	case s.used >= len(s.spots)-len(s.spots)/8:
		s.grow()
		s.set(one)
		return
	default:
		s.used++
	}
	s.spots[at] = one
}

// grow makes the table a quarter larger.
func (s *pointerShard) grow() {
	old := s.spots
	s.spots = make([]spot, max(leastSpots, len(old)+len(old)/4))
	for _, one := range old {
		if one.File != 0 {
			at, _ := s.search(one.tag)
			s.spots[at] = one
		}
	}
}

func (s *pointerShard) home(tag uint32) int {
	share, _ := bits.Mul64(uint64(tag)<<32, uint64(len(s.spots)))
	return int(share)
}

func (s *pointerShard) after(at int) int {
	if at++; at == len(s.spots) {
		return 0
	}
	return at
}

// way is how many spots lie between two, going on.
func (s *pointerShard) way(from, to int) int {
	if to < from {
		to += len(s.spots)
	}
	return to - from
}
