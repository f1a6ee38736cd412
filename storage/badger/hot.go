package badger

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

const (
	hotSlots = 8 << 10
	hotBytes = 1 << 10 // largest value kept
)

// hot keeps small values that transactions read again and again: the rows of the folders
// they write in, of the caller and of the epochs, and that some rows do not exist, which costs
// Badger a look into every level. A slot has room for one key; any write of a key that
// belongs to the slot ends what it holds.
type hot struct {
	seed    maphash.Seed
	values  [hotSlots]atomic.Pointer[hotValue]
	written [hotSlots]atomic.Uint64 // version of the last write of a key of the slot
	missed  [hotSlots]atomic.Uint64 // hash of the last key that was read and not found here
}

// hotValue is the value a key has at a version, nil if it has none.
type hotValue struct {
	key, value []byte
	version    uint64
}

func (h *hot) hash(key []byte) uint64 { return maphash.Bytes(h.seed, key) }

// get returns the value of a key, whose hash is given, at a version. What was written up to that version is
// in written, so a value none of those writes may have changed is the right one.
func (h *hot) get(key []byte, hash, version uint64) ([]byte, bool) {
	i := hash % hotSlots
	v := h.values[i].Load()
	if v == nil || v.version > version || h.written[i].Load() > v.version || !bytes.Equal(v.key, key) {
		return nil, false
	}
	return v.value, true
}

// again reports whether a key, whose hash is given, was also the last one of its slot that was not found here: what is
// read once drives nothing out.
func (h *hot) again(hash uint64) bool {
	last := &h.missed[hash%hotSlots]
	if last.Load() == hash {
		return true
	}
	last.Store(hash)
	return false
}

// put keeps a value read at a version.
func (h *hot) put(key, value []byte, hash, version uint64) {
	if len(value) > hotBytes {
		return
	}
	if i := hash % hotSlots; h.written[i].Load() <= version {
		h.values[i].Store(&hotValue{bytes.Clone(key), value, version})
	}
}

// write notes the writes of a run, before readers see them.
func (h *hot) write(r *run) {
	for _, hash := range r.hashes {
		h.written[hash%hotSlots].Store(r.last)
	}
}
