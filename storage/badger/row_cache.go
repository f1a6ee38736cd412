package badger

import (
	"bytes"
	"sync"
	"sync/atomic"
)

const (
	rowShards = 256
	rowRoom   = 114 // bytes that key and value of a row take at most, so that a spot has 128
	rowWays   = 4   // spots of a set
	firstRows = 4   // spots of a shard
	mostRows  = 256 // so that all have 8 MiB
)

// rowCache keeps small rows that were read from the tables, such as those that say where documents are. They are read again in any
// order, of which hot, with a slot for each key, keeps few. It holds no pointers, so the collector has nothing to look at.
//
// A row that is kept is the newest version of its key: who commits another one takes it out before readers see that. Rows
// that are not there are not kept, so one that is created takes nothing out.
type rowCache struct {
	written atomic.Uint64    // version of the last run that readers see or are about to
	kinds   [256]atomic.Bool // first bytes of keys that rows were kept of: no other needs to be looked for
	shards  [rowShards]rowShard
}

// rowShard is a hash table of sets, in whose spots rows are in any order.
type rowShard struct {
	mu   sync.RWMutex
	rows []keptRow
	next uint8 // spot of a full set that is given to another row
}

// keptRow is a row that was read at a version.
type keptRow struct {
	version   uint64
	tag       uint32
	key, size uint8 // bytes of the key, and of the value behind it; no key: the spot is free
	room      [rowRoom]byte
}

// set returns the spots that a key may be in.
func (s *rowShard) set(tag uint32) []keptRow {
	if len(s.rows) == 0 {
		return nil
	}
	at := int(tag) & (len(s.rows) - 1) &^ (rowWays - 1)
	return s.rows[at : at+rowWays]
}

func (c *rowCache) shard(hash uint64) (s *rowShard, tag uint32) {
	return &c.shards[hash>>56], uint32(hash)
}

func (r *keptRow) is(key []byte, tag uint32) bool {
	return r.tag == tag && int(r.key) == len(key) && bytes.Equal(r.room[:r.key], key)
}

// get returns a copy of the value of a key for those who read at a version, nil if it is not kept.
func (c *rowCache) get(key []byte, hash, version uint64) []byte {
	if !c.kinds[key[0]].Load() {
		return nil
	}
	s, tag := c.shard(hash)
	s.mu.RLock()
	defer s.mu.RUnlock()
	set := s.set(tag)
	for i := range set {
		if r := &set[i]; r.is(key, tag) && r.version <= version {
			return bytes.Clone(r.room[r.key : r.key+r.size])
		}
	}
	return nil
}

// put keeps the value of a key that was read at a version.
func (c *rowCache) put(key, value []byte, hash, version uint64) {
	if len(value) == 0 || len(key)+len(value) > rowRoom {
		return
	}
	c.kinds[key[0]].Store(true) // before written is read: who commits writes that first, and reads this after
	s, tag := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if version < c.written.Load() { // what was read may be out of date
		return
	}
	r := s.spot(key, tag)
	r.version, r.tag, r.key, r.size = version, tag, uint8(len(key)), uint8(len(value))
	copy(r.room[copy(r.room[:], key):], value)
}

// spot returns the spot of a key, a free one, or that of another row.
func (s *rowShard) spot(key []byte, tag uint32) *keptRow {
	for {
		set := s.set(tag)
		var free *keptRow
		for i := range set {
			switch r := &set[i]; {
			case r.is(key, tag):
				return r
			case r.key == 0:
				free = r
			}
		}
		switch {
		case free != nil:
			return free
		case len(s.rows) == mostRows:
			s.next++
			return &set[s.next%rowWays]
		}
		s.grow()
	}
}

// grow makes the table twice as large. What is in one set is then in two.
func (s *rowShard) grow() {
	old := s.rows
	s.rows = make([]keptRow, max(firstRows, 2*len(old)))
	for i := range old {
		if r := &old[i]; r.key > 0 {
			*s.spot(r.room[:r.key], r.tag) = *r
		}
	}
}

// write takes out what a run changes, before readers see it.
func (c *rowCache) write(r *run) {
	c.written.Store(r.last)
	for i := range r.rows {
		if w := &r.rows[i]; !w.Create && !w.Fresh && c.kinds[w.Key[0]].Load() {
			c.remove(w.Key, r.hashes[i])
		}
	}
}

func (c *rowCache) remove(key []byte, hash uint64) {
	s, tag := c.shard(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.set(tag)
	for i := range set {
		if r := &set[i]; r.is(key, tag) {
			r.key = 0
			return
		}
	}
}
