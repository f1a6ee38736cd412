package kv

import (
	"bytes"
	"sort"
	"sync"
)

// Bounds of what a History keeps for slow writers; one that falls behind conflicts.
const (
	historyKeys    = 500_000
	historyCommits = 100_000
)

// History holds what the validation of serializable transactions needs: which
// versions are being read, and the keys of the commits that running write
// transactions have not seen. Check and Add are for the one committer of an
// engine, the rest for everyone.
type History struct {
	commits []commit // oldest first
	keys    int
	floor   uint64 // commits up to here are forgotten

	mu        sync.Mutex
	published uint64
	reads     marks
	writes    marks
}

type commit struct {
	version uint64
	keys    [][]byte
}

// Mark is a version somebody reads at.
type Mark struct {
	Version uint64
	n       int
}

// marks are the versions in use, oldest first.
type marks []*Mark

// NewHistory begins at a version whose predecessors no transaction has seen.
func NewHistory(version uint64) *History {
	return &History{floor: version, published: version}
}

// Begin marks the published version as being read, by a writer or a mere reader.
func (h *History) Begin(write bool) *Mark {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list(write)
	if n := len(*list); n > 0 && (*list)[n-1].Version == h.published {
		(*list)[n-1].n++
		return (*list)[n-1]
	}
	m := &Mark{Version: h.published, n: 1}
	*list = append(*list, m)
	return m
}

// End takes back a Begin.
func (h *History) End(m *Mark, write bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	m.n--
	list := h.list(write)
	i := 0
	for i < len(*list) && (*list)[i].n == 0 {
		(*list)[i] = nil
		i++
	}
	*list = (*list)[i:]
}

func (h *History) list(write bool) *marks {
	if write {
		return &h.writes
	}
	return &h.reads
}

// Publish lets transactions that begin from now on see the version.
func (h *History) Publish(version uint64) {
	h.mu.Lock()
	h.published = version
	h.mu.Unlock()
}

// Published is the version a transaction would begin at.
func (h *History) Published() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.published
}

// Oldest is the lowest version still read by anyone, else the published one.
func (h *History) Oldest() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return min(h.reads.first(h.published), h.writes.first(h.published))
}

func (m marks) first(otherwise uint64) uint64 {
	if len(m) > 0 {
		return m[0].Version
	}
	return otherwise
}

// Check returns ErrConflict if any read made at version start has been overwritten
// by a commit added since, or if that can no longer be told.
func (h *History) Check(start uint64, r *Reads) error {
	if len(r.Keys) == 0 && len(r.Spans) == 0 {
		return nil
	}
	if start < h.floor {
		return ErrConflict
	}
	from := sort.Search(len(h.commits), func(i int) bool { return h.commits[i].version > start })
	for _, c := range h.commits[from:] {
		if r.meets(c.keys) {
			return ErrConflict
		}
	}
	return nil
}

// Add records the sorted keys of a commit, which may not be published yet, and
// forgets the commits every running writer has seen.
func (h *History) Add(version uint64, keys [][]byte) {
	h.commits = append(h.commits, commit{version, keys})
	h.keys += len(keys)
	h.mu.Lock()
	oldest := h.writes.first(h.published)
	h.mu.Unlock()
	drop := 0
	for drop < len(h.commits) {
		c := h.commits[drop]
		full := h.keys > historyKeys || len(h.commits)-drop > historyCommits
		if c.version > oldest && !full {
			break
		}
		h.keys -= len(c.keys)
		h.floor = c.version
		h.commits[drop] = commit{}
		drop++
	}
	h.commits = h.commits[drop:]
}

// meets reports whether any of the sorted keys was read.
func (r *Reads) meets(keys [][]byte) bool {
	if len(keys) == 0 {
		return false
	}
	return meetKeys(r.Keys, keys) || meetSpans(r.Spans, keys)
}

// meetKeys looks for a common key, searching the longer list for each of the shorter.
func meetKeys(a, b [][]byte) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, k := range a {
		i := lowerBound(b, k)
		if i < len(b) && bytes.Equal(b[i], k) {
			return true
		}
		b = b[i:]
	}
	return false
}

func meetSpans(spans []Span, keys [][]byte) bool {
	if len(keys) < len(spans) {
		for _, k := range keys {
			i := sort.Search(len(spans), func(i int) bool { return bytes.Compare(spans[i].Start, k) > 0 }) - 1
			if i >= 0 && (spans[i].End == nil || bytes.Compare(k, spans[i].End) < 0) {
				return true
			}
		}
		return false
	}
	for _, s := range spans {
		i := lowerBound(keys, s.Start)
		if i < len(keys) && (s.End == nil || bytes.Compare(keys[i], s.End) < 0) {
			return true
		}
		keys = keys[i:]
	}
	return false
}

// lowerBound is the first position whose key is not below k.
func lowerBound(keys [][]byte, k []byte) int {
	lo, hi := 0, len(keys)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(keys[mid], k) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
