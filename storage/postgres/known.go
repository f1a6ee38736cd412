package postgres

import "iter"

// maxKnown is how many keys a snapshot remembers at most.
const maxKnown = 20_000

// known is what a snapshot remembers of what keys hold; nil: they are absent. Once half of what there is room for is new, what is older
// than that is forgotten, so that what was just read ahead stays.
type known struct {
	now, before map[string][]byte
	turns       int // how often before was replaced
}

func (m *known) get(key []byte) (v []byte, ok bool) {
	if v, ok = m.now[string(key)]; !ok {
		v, ok = m.before[string(key)]
	}
	return v, ok
}

// expect makes room for so many keys.
func (m *known) expect(n int) {
	if m.now == nil {
		m.now = make(map[string][]byte, min(n, maxKnown/2))
	}
}

func (m *known) put(key string, v []byte) {
	if m.now == nil || len(m.now) >= maxKnown/2 {
		if m.now != nil {
			m.before = m.now
			m.turns++
		}
		m.now = map[string][]byte{}
	}
	m.now[key] = v
}

// forgot reports whether something is remembered no longer.
func (m *known) forgot() bool { return m.turns > 1 }

func (m *known) len() int { return len(m.now) + len(m.before) }

// all are the keys with what they hold.
func (m *known) all() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for k, v := range m.now {
			if !yield(k, v) {
				return
			}
		}
		for k, v := range m.before {
			if _, newer := m.now[k]; !newer && !yield(k, v) {
				return
			}
		}
	}
}
