package scripts

import (
	"io"
	"sync/atomic"
	"time"
	"unsafe"
)

// The server and a worker that share memory speak through two rings in it, one for each
// direction, and use their pipes only to wake each other. A wake-up of a sleeping
// processor costs more than most operations; who waits therefore looks again for a moment
// before it sleeps, unless more scripts run than there are processors for both of their
// sides: then looking takes the time of the one waited for. Neither side believes the other's numbers: a position that cannot be
// ends the conversation, and what is in a ring is copied before anybody reads it.

const (
	ringSize  = 64 << 10 // bytes on their way in one direction; a power of two
	pageSize  = 4096
	shareSize = pageSize + 2*ringSize
)

// word is a number in shared memory that one side writes, on a cache line of its own.
type word struct {
	atomic.Uint32
	_ [60]byte
}

// side is what one process says about itself.
type side struct {
	written word // bytes it has put into the ring it writes
	read    word // bytes it has taken from the ring it reads
	asleep  word // what it sleeps for
	stopped word // the number of the run that it wants to end
	crowded word // whether the other side had better sleep than look again
	taken   word // answers that came ahead which the script has asked for, of all runs
}

// What a side may sleep for.
const (
	awake = iota
	asleepForData
	asleepForRoom
)

// control is the first page of the shared memory.
type control struct {
	server, worker side
}

// link is one end of a conversation through shared memory. It is a stream of bytes in
// both directions for one goroutine at a time.
type link struct {
	mem       []byte
	own, peer *side
	in, out   []byte
	// Positions count bytes and wrap around at 2^32, which ringSize divides, so differences stay right.
	taken, given uint32 // own positions; the memory holds copies for the other side
	wakeIn       io.Reader
	wakeOut      io.WriteCloser
	patience     patience
	crowd        *atomic.Uint32 // of the server: what it writes into crowded
	nap          func()         // of a worker: waits a moment for wakeIn
	bell         [64]byte
}

// newLink makes the server's or the worker's end of the memory that both have mapped.
func newLink(mem []byte, server bool, wakeIn io.Reader, wakeOut io.WriteCloser) *link {
	c := (*control)(unsafe.Pointer(&mem[0]))
	a, b := mem[pageSize:pageSize+ringSize], mem[pageSize+ringSize:shareSize]
	l := &link{mem: mem, wakeIn: wakeIn, wakeOut: wakeOut}
	if server {
		l.own, l.peer, l.out, l.in = &c.server, &c.worker, a, b
	} else {
		l.own, l.peer, l.out, l.in = &c.worker, &c.server, b, a
	}
	return l
}

// Read takes what has arrived; it waits for the first byte.
func (l *link) Read(p []byte) (int, error) {
	n, err := l.arrived()
	if n == 0 {
		return 0, err
	}
	n = min(n, len(p))
	at := int(l.taken % ringSize)
	k := copy(p[:n], l.in[at:])
	copy(p[k:n], l.in)
	l.taken += uint32(n)
	l.own.read.Store(l.taken)
	return n, l.wake(asleepForRoom)
}

// arrived waits until there is something to read and returns how much.
func (l *link) arrived() (int, error) {
	for {
		n := l.peer.written.Load() - l.taken
		switch {
		// The other side may write any number here; one that cannot be is not followed.
		case n > ringSize:
			return 0, errWire
		case n > 0:
			return int(n), nil
		}
		if err := l.wait(&l.peer.written, l.taken, asleepForData); err != nil {
			return 0, err
		}
	}
}

// Write sends all of p; it waits while the ring is full.
func (l *link) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		used := l.given - l.peer.read.Load()
		if used > ringSize {
			return sent, errWire
		}
		if used == ringSize {
			if err := l.wait(&l.peer.read, l.given-ringSize, asleepForRoom); err != nil {
				return sent, err
			}
			continue
		}
		n := min(len(p)-sent, int(ringSize-used))
		at := int(l.given % ringSize)
		k := copy(l.out[at:], p[sent:sent+n])
		copy(l.out, p[sent+k:sent+n])
		l.given += uint32(n)
		sent += n
		l.own.written.Store(l.given)
		if err := l.wake(asleepForData); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

// heard reports whether there is something to read.
func (l *link) heard() bool { return l.peer.written.Load() != l.taken }

// room returns how much can be written without waiting.
func (l *link) room() int {
	used := l.given - l.peer.read.Load()
	return ringSize - int(min(used, ringSize))
}

// Close ends the conversation.
func (l *link) Close() error { return l.wakeOut.Close() }

// wake rings the other side's bell if it sleeps for what has just happened.
func (l *link) wake(what uint32) error {
	// Swapping lets one bell ring for one sleep, however much is written meanwhile.
	if l.peer.asleep.Load() != what || !l.peer.asleep.CompareAndSwap(what, awake) {
		return nil
	}
	_, err := l.wakeOut.Write(l.bell[:1])
	return err
}

// wait returns when a word of the other side is no longer what it was, or may be.
func (l *link) wait(w *word, was, what uint32) error {
	crowded := l.peer.crowded.Load()
	if l.crowd != nil {
		crowded = l.crowd.Load()
	}
	if crowded == 0 && l.patience.until(w, was) {
		return nil
	}
	// The note comes before the second look, and the other side writes before it looks for the note: whichever
	// is first, one of the two notices the other, and no wake-up is lost.
	l.own.asleep.Store(what)
	if w.Load() != was {
		l.own.asleep.Store(awake)
		return nil
	}
	if l.nap != nil {
		l.nap()
	}
	_, err := l.wakeIn.Read(l.bell[:])
	l.own.asleep.Store(awake)
	return err
}

// patience is how long a side looks again before it sleeps. It is lost while looking does
// not help, as when a script computes for long.
type patience struct {
	lost  int
	tries uint
}

const (
	longestLook = 200 * time.Microsecond // as waking a processor that sleeps takes, on both sides
	maxLost     = 4
)

// until looks at a word for a while and reports whether it has changed. Other threads may
// have the processor all the time.
func (p *patience) until(w *word, was uint32) bool {
	if p.lost >= maxLost {
		// Every 32nd wait tries whether looking helps again.
		if p.tries++; p.tries%32 != 0 {
			return w.Load() != was
		}
	}
	var began time.Time
	for i := 0; ; i++ {
		for range 100 {
			if w.Load() != was {
				p.lost = 0
				return true
			}
		}
		yield()
		switch {
		case i == 0:
			began = time.Now()
		case i%4 == 0 && time.Since(began) > longestLook:
			p.lost = min(p.lost+1, maxLost)
			return false
		}
	}
}
