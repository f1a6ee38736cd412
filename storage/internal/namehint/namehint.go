// Package namehint remembers which document was found under a name in a folder, so that a path which is asked for again needs
// no look for its last name. What it says are hints: anyone who uses one reads the row of the document, which says where the
// document is now, and looks for the name if that is elsewhere.
package namehint

import (
	"hash/maphash"
	"sync"
)

// ID identifies a document; all zeros, none.
type ID [16]byte

const (
	stripes = 256
	// A name may be in any slot of a set: of one slot each, names that share it would drive each other out although most are free.
	// 256 stripes of 1,024 slots are 6 MB.
	ways       = 8
	leastSlots = 16
	mostSlots  = 1024
)

// Names are the hints of one repository. The zero value has none.
type Names struct {
	seed    maphash.Seed
	once    sync.Once
	stripes [stripes]stripe
}

type stripe struct {
	mu    sync.Mutex
	slots []slot
	used  int
	next  int // slot of a full set that is given to another name
}

type slot struct {
	hash uint64
	id   ID
}

// Name is a name in a folder.
type Name struct{ hash uint64 }

// Of returns a name in a folder.
func (n *Names) Of(folder ID, name string) Name {
	n.once.Do(func() { n.seed = maphash.MakeSeed() })
	var h maphash.Hash
	h.SetSeed(n.seed)
	_, _ = h.Write(folder[:])
	_, _ = h.WriteString(name)
	return Name{h.Sum64()}
}

// Find returns the document that was found under a name last, all zeros if that is not known.
func (n *Names) Find(name Name) ID {
	s := &n.stripes[name.hash%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.set(name.hash) {
		if at.hash == name.hash {
			return at.id
		}
	}
	return ID{}
}

// Note notes the document that was found under a name.
func (n *Names) Note(name Name, id ID) {
	s := &n.stripes[name.hash%stripes]
	s.mu.Lock()
	defer s.mu.Unlock()
	if size := len(s.slots); s.used >= size/2 && size < mostSlots {
		old := s.slots
		s.slots, s.used = make([]slot, max(leastSlots, 2*size)), 0
		for _, one := range old {
			if one.id != (ID{}) {
				s.put(one)
			}
		}
	}
	s.put(slot{name.hash, id})
}

// set returns the slots that a name may be in.
func (s *stripe) set(hash uint64) []slot {
	if len(s.slots) == 0 {
		return nil
	}
	at := int(hash/stripes%uint64(len(s.slots))) &^ (ways - 1)
	return s.slots[at : at+ways]
}

func (s *stripe) put(one slot) {
	set := s.set(one.hash)
	for i := range set {
		switch free := set[i].id == (ID{}); {
		case free:
			s.used++
			fallthrough
		case set[i].hash == one.hash:
			set[i] = one
			return
		}
	}
	s.next++
	set[s.next%ways] = one
}
