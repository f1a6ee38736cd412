package blob

import (
	"sync"
	"sync/atomic"
	"time"

	"catena/storage/disk"
)

const (
	// recentFor is how long a block that was verified is not verified again, and recentQuiet how long a file must not have
	// changed before: the system's clock for changes is coarse.
	recentFor   = time.Minute
	recentQuiet = time.Second
	// recentRoom is how many blocks are remembered, one bit each.
	recentRoom = 64 << 20
)

// identity tells whether a file was replaced or written to.
type identity struct {
	device, inode    uint64
	size             int64
	modified, change int64 // in nanoseconds since 1970
}

// recent remembers which blocks of files were verified within the last minute.
type recent struct {
	mu   sync.Mutex
	all  map[string]*checkedBlocks // by digest
	room int64
}

// checkedBlocks are the blocks of a file that were verified.
type checkedBlocks struct {
	file  identity
	until time.Time
	bits  []atomic.Uint64
}

// of returns what is remembered of a file; nil if nothing can be.
func (r *recent) of(digest string, f disk.File, now time.Time) *checkedBlocks {
	id, ok := identify(f)
	if !ok || now.UnixNano()-id.change < int64(recentQuiet) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.all[digest]; c != nil && c.file == id && now.Before(c.until) {
		return c
	}
	n := blocksIn(id.size)
	if r.all == nil || r.room < n || len(r.all) == remembered {
		r.all, r.room = map[string]*checkedBlocks{}, recentRoom
	}
	if n > r.room {
		return nil
	}
	c := &checkedBlocks{file: id, until: now.Add(recentFor), bits: make([]atomic.Uint64, (n+63)/64)}
	r.all[digest] = c
	r.room -= n
	return c
}

// has reports whether the block that begins at an offset was verified.
func (c *checkedBlocks) has(at int64) bool {
	i := at / blockSize
	return c != nil && c.bits[i/64].Load()&(1<<(i%64)) != 0
}

// add says that the block that begins at an offset was verified.
func (c *checkedBlocks) add(at int64) {
	if i := at / blockSize; c != nil {
		c.bits[i/64].Or(1 << (i % 64))
	}
}
