package postgres

import (
	"bytes"
	"slices"

	"catena/storage/kv"
)

// fetched are the rows of a range, the whole of it unless more is set, or how many they are.
type fetched struct {
	kv.Range
	rows []kv.Row
	n    int64 // of a range of which only the number of rows was fetched
	more bool
}

// Prefetch fetches keys and the first rows of ranges that are not known.
func (s *snapshot) Prefetch(keys [][]byte, ranges []kv.Range) error {
	var more []kv.Range
	ask := s.unknown(keys)
	n := len(ask)
	for _, r := range ranges {
		if s.find(r) == nil {
			more = append(more, r)
			n += r.Limit * len(r.Follow)
		}
	}
	s.known.expect(n)
	turns := s.known.turns
	if err := s.fetch(ask, more, s.known.put); err != nil {
		return err
	}
	for _, k := range ask {
		if s.known.turns > turns+1 {
			return nil // what is not known may have been there, and been forgotten meanwhile
		}
		if _, ok := s.known.get(k); !ok {
			s.known.put(string(k), nil)
		}
	}
	return nil
}

// unknown are those of some keys that have to be asked for.
func (s *snapshot) unknown(keys [][]byte) [][]byte {
	ask := make([][]byte, 0, len(keys))
	for _, k := range keys {
		if _, ok := s.known.get(k); !ok && len(k) > 0 {
			ask = append(ask, k)
		}
	}
	return ask
}

// fetch reads keys, and the first rows of ranges, which it remembers. Found gets those keys that are there, and all that the rows
// lead to.
func (s *snapshot) fetch(ask [][]byte, ranges []kv.Range, found func(key string, v []byte)) error {
	if len(ask) == 0 && len(ranges) == 0 {
		return s.broken
	}
	s.note(ask, ranges)
	got := make([]fetched, len(ranges))
	for i, r := range ranges {
		got[i].Range = r
	}
	groups := together(got)
	err := s.send(min(1, len(ask))+len(groups), func(b *batch) {
		if len(ask) > 0 {
			s.get(b, ask, func(k, v []byte) { found(string(k), s.room.own(v)) })
		}
		for _, some := range groups {
			first := &some[0]
			most := first.Limit // the caller says how many
			if most <= 0 {
				most = firstPage
			}
			switch {
			case len(some) > 1:
				s.many(b, some, most, found)
			case len(first.Follow) > 0:
				s.follow(b, first, most, found)
			default:
				s.ask(b, first, most)
			}
		}
	})
	if err != nil {
		return err
	}
	for _, f := range got {
		s.keep(f)
	}
	return nil
}

// ask adds the query for a range without what its rows lead to.
func (s *snapshot) ask(b *batch, f *fetched, most int) {
	if f.CountOnly {
		s.count(b, f.Range, most, &f.n)
		return
	}
	s.page(b, f.Range, most, func(rows []kv.Row, more bool) { f.rows, f.more = rows, more })
}

// follow is ask for rows together with what they lead to, which found gets.
func (s *snapshot) follow(b *batch, f *fetched, most int, found func(key string, v []byte)) {
	f.rows, f.more = make([]kv.Row, 0, min(most, firstPage)), false
	to := f.Follow[:min(len(f.Follow), len(followStatements))]
	b.add(followStatements[len(to)-1]+backwards(f.Range)+open(f.Range), func(row [][]byte) error {
		key := s.room.own(row[0])
		f.rows = append(f.rows, kv.Row{Key: key, Value: s.room.own(row[1])})
		if f.more = len(f.rows) == most; len(key) < followedBytes {
			return nil
		}
		for i, begin := range to {
			found(string(begin)+string(key[len(key)-followedBytes:]), s.room.own(row[2+i]))
		}
		return nil
	}, append(bounds(f.Range, most), to...)...)
}

// together divides ranges into those that one statement asks for: successive ones that have an end and differ in their bounds alone.
func together(all []fetched) (groups [][]fetched) {
	for begin := 0; begin < len(all); {
		end := begin + 1
		for first := &all[begin]; end < len(all) && first.joins(&all[end]); end++ {
		}
		groups = append(groups, all[begin:end])
		begin = end
	}
	return groups
}

func (f *fetched) joins(g *fetched) bool {
	return !f.CountOnly && !g.CountOnly && f.End != nil && g.End != nil && f.Limit == g.Limit && f.KeysOnly == g.KeysOnly && f.Reverse == g.Reverse &&
		slices.EqualFunc(f.Follow, g.Follow, bytes.Equal)
}

// many is ask, or follow, for ranges that differ in their bounds alone.
func (s *snapshot) many(b *batch, all []fetched, most int, found func(key string, v []byte)) {
	starts, ends := make([][]byte, len(all)), make([][]byte, len(all))
	for i := range all {
		all[i].rows, all[i].more = nil, false
		starts[i], ends[i] = all[i].Start, all[i].End
	}
	first := &all[0]
	to := first.Follow[:min(len(first.Follow), len(followStatements))]
	what := "scan"
	switch {
	case len(to) > 0:
		what = followStatements[len(to)-1]
	case first.KeysOnly:
		what = "keys"
	}
	args := append([][]byte{byteArray(starts), byteArray(ends), number(int64(most))}, to...)
	b.add(what+"_many"+backwards(first.Range), func(row [][]byte) error {
		var of int64
		if err := readNumber(row[0], &of); err != nil {
			return err
		}
		f, key := &all[of-1], s.room.own(row[1])
		f.rows = append(f.rows, kv.Row{Key: key, Value: s.room.own(row[2])})
		if f.more = len(f.rows) == most; len(key) < followedBytes {
			return nil
		}
		for i, begin := range to {
			found(string(begin)+string(key[len(key)-followedBytes:]), s.room.own(row[3+i]))
		}
		return nil
	}, args...)
}

// followedBytes is how many of the last bytes of a row's key Range.Follow puts into others.
const followedBytes = 16

// keep remembers the rows of a range.
func (s *snapshot) keep(f fetched) {
	for _, row := range f.rows {
		s.size += len(row.Key) + len(row.Value)
	}
	if s.size > maxFetched {
		s.fetched, s.size, s.forgot = nil, 0, true
	}
	s.fetched = append(s.fetched, f)
}

// maxLate is how many keys and ranges are noted that were asked for late.
const maxLate = 5000

// note notes what is asked for, if that is late.
func (s *snapshot) note(keys [][]byte, ranges []kv.Range) {
	if !s.notes || s.version == 0 || len(s.late.Keys)+len(s.late.Ranges) > maxLate {
		return
	}
	s.late.Keys = append(s.late.Keys, keys...)
	s.late.Ranges = append(s.late.Ranges, ranges...)
}

// Late is what was asked for once the state was that of other reads.
func (s *snapshot) Late() (late kv.Asked, ok bool) { return s.late, s.notes }

// find returns what was fetched of a range, if it is known from its beginning on, or of the number of its rows.
func (s *snapshot) find(r kv.Range) *fetched {
	for i := range s.fetched {
		f := &s.fetched[i]
		same := f.CountOnly == r.CountOnly && f.Reverse == r.Reverse && (r.KeysOnly || !f.KeysOnly)
		if same && bytes.Equal(f.Start, r.Start) && bytes.Equal(f.End, r.End) && (f.End == nil) == (r.End == nil) {
			return f
		}
	}
	return nil
}

// Count returns the number of rows of a range, up to its limit.
func (s *snapshot) Count(r kv.Range) (n int, err error) {
	limit := r.Limit
	if limit <= 0 {
		limit = 1 << 40
	}
	if f := s.find(r); f != nil && (!f.more || len(f.rows) >= limit) {
		return min(len(f.rows), limit), nil
	}
	counted := kv.Range{Start: r.Start, End: r.End, Limit: limit, CountOnly: true}
	if f := s.find(counted); f != nil && (f.n < int64(f.Limit) || limit <= f.Limit) {
		return min(int(f.n), limit), nil
	}
	s.note(nil, []kv.Range{counted})
	var rows int64
	err = s.run(func(b *batch) { s.count(b, r, limit, &rows) })
	return int(rows), err
}

// count adds the query for the number of rows of a range.
func (s *snapshot) count(b *batch, r kv.Range, limit int, to *int64) {
	b.add("count"+open(r), func(row [][]byte) error { return readNumber(row[0], to) }, bounds(r, limit)...)
}
