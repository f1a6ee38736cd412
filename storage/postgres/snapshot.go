package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/jackc/pgx/v5/pgxpool"
)

// maxKnown is how many keys a snapshot remembers, and maxFetched how many bytes of ranges.
const (
	maxKnown   = 20_000
	maxFetched = 32 << 20
)

// snapshot is a transaction of the database. It has a connection from the first read on, unless it is optimistic: then the
// first read is a transaction of its own, or a statement, whose snapshot is as good, and the connection is free again. Only if
// more is read, a transaction begins that stays, and first compares what is known with what is there in its own snapshot.
type snapshot struct {
	s          *Store
	ctx        context.Context
	write      bool
	alone      bool
	optimistic bool // no transaction has begun that stays, and none may have to
	notes      bool // what is asked for late is noted
	late       kv.Asked

	conn    *pgxpool.Conn
	trips   int
	broken  error // why nothing more can be read
	touched bool  // something has been read
	version uint64
	xid     int64 // of the transaction, if it may write
	stamps  uint64
	settled int64 // all transactions with lower numbers have ended, and are seen if they were committed

	known   map[string][]byte // what keys hold; nil: they are absent
	fetched []fetched
	size    int  // of what was fetched
	forgot  bool // something that was read is remembered no longer
	room    room
}

// fetched are the rows of a range, the whole of it unless more is set, or how many they are.
type fetched struct {
	kv.Range
	rows []kv.Row
	n    int64 // of a range of which only the number of rows was fetched
	more bool
}

// Version numbers the snapshot within the process.
func (s *snapshot) Version() uint64 {
	if s.version == 0 && s.broken == nil {
		_ = s.run(s.mark) // what fails is remembered
	}
	return s.version
}

// stampBits are those of a stamp that number the rows of a transaction; the higher ones are the number of the transaction
// itself. JavaScript has exact integers for the stamps of the first 500 billion transactions.
const stampBits = 14

// Stamp returns a number for a row.
func (s *snapshot) Stamp() (uint64, error) {
	if s.Version(); s.broken != nil {
		return 0, s.broken
	}
	if s.stamps++; s.stamps >= 1<<stampBits {
		return 0, fault.Limit.Errorf("transaction: more than %d numbered rows", 1<<stampBits-1)
	}
	return uint64(s.xid)<<stampBits | s.stamps, nil
}

// Settled is the lowest stamp of those whose transactions may not have ended.
func (s *snapshot) Settled() (uint64, error) {
	if s.settled == 0 && s.broken == nil {
		_ = s.run(s.mark)
	}
	return uint64(s.settled) << stampBits, s.broken
}

// mark adds a query that takes the snapshot of a transaction that only reads, if nothing has, and finds out what Settled
// returns; the beginning of one that may write does so anyway.
func (s *snapshot) mark(b *batch) {
	if !s.write {
		b.add("mark_read", func(row [][]byte) error { return readNumber(row[0], &s.settled) })
	}
}

// Latest returns the committed value of a key, read on another connection.
func (s *snapshot) Latest(key []byte) ([]byte, error) {
	s.trips++
	return s.s.Value(s.ctx, key)
}

// RoundTrips is how often the transaction has waited for the database.
func (s *snapshot) RoundTrips() int { return s.trips }

// Untouched reports whether nothing has been read yet.
func (s *snapshot) Untouched() bool { return !s.touched }

// Broken returns why the snapshot cannot be read any longer.
func (s *snapshot) Broken() error { return s.broken }

// run sends queries in one round trip, and before the first ones what begins the transaction. If the connection was
// lost before anything was read, another one is taken.
func (s *snapshot) run(add func(*batch)) error { return s.send(0, add) }

// send is run for so many queries of which everything is remembered, so that an optimistic snapshot can compare it; 0: it is not.
func (s *snapshot) send(kept int, add func(*batch)) error {
	if s.broken != nil {
		return s.broken
	}
	fresh := s.conn == nil
	var err error
	for tries := 0; tries <= s.s.opts.Connections; tries++ {
		if err = s.try(kept, add); err == nil || !fresh || !errors.Is(err, kv.ErrDown) || s.conn == nil {
			break
		}
		release(s.conn, true)
		s.conn = nil
	}
	switch {
	case err == nil:
		s.touched = true
	case s.s.replica != nil && errors.Is(err, kv.ErrDown): // others need not find out for themselves
		s.s.replica.heard.Store(0)
		fallthrough
	default:
		s.broken = err
	}
	return err
}

func (s *snapshot) try(kept int, add func(*batch)) (err error) {
	begin := s.conn == nil
	if begin {
		if s.conn, err = s.s.acquire(s.ctx); err != nil {
			s.conn = nil
			return err
		}
	}
	b := newBatch(s.conn.Conn().PgConn())
	alone := kept > 0 && s.optimistic && s.version == 0
	same := func() bool { return true }
	switch {
	case alone && kept > 1:
		b.add("begin_read", nil)
		add(b)
		b.add("commit", nil)
	case alone:
		add(b)
	default:
		if begin {
			s.begin(b)
			same = s.compare(b)
		}
		add(b)
	}
	s.trips++
	if err = failed(s.ctx, b.send(s.ctx)); err != nil {
		return err
	}
	if s.version == 0 {
		s.version = s.s.version.Add(1)
	}
	if alone {
		s.conn.Release()
		s.conn = nil
		return nil
	}
	if s.optimistic = false; !same() {
		return kv.ErrConflict
	}
	return nil
}

// begin adds what begins the transaction.
func (s *snapshot) begin(b *batch) {
	if !s.write {
		b.add("begin_read", nil)
		return
	}
	b.add("begin_write", nil)
	if s.alone {
		b.add("lock", nil) // before the snapshot is taken
	}
	b.add("mark_write", func(row [][]byte) error {
		return cmp.Or(readNumber(row[0], &s.xid), readNumber(row[1], &s.settled))
	})
}

// compare adds queries for all that is known, and returns what says, once they were sent, whether nothing of it has changed.
func (s *snapshot) compare(b *batch) (same func() bool) {
	if !s.optimistic {
		return func() bool { return true }
	}
	changed, missing := s.forgot, 0
	if len(s.known) > 0 {
		keys := make([][]byte, 0, len(s.known))
		for k, v := range s.known {
			if keys = append(keys, []byte(k)); v != nil {
				missing++
			}
		}
		b.add("get", func(row [][]byte) error {
			missing--
			v := s.known[string(row[0])]
			changed = changed || v == nil || !bytes.Equal(v, row[1])
			return nil
		}, byteArray(keys))
	}
	now := make([]fetched, len(s.fetched))
	for i, f := range s.fetched {
		now[i].Range = f.Range
		s.ask(b, &now[i], f.reach())
	}
	return func() bool {
		for i, f := range s.fetched {
			changed = changed || f.differs(&now[i])
		}
		return missing == 0 && !changed
	}
}

// reach is how many rows have to be read again to see whether they are still those of a range.
func (f *fetched) reach() int {
	switch {
	case f.CountOnly:
		return f.Limit
	case f.more:
		return len(f.rows)
	}
	return len(f.rows) + 1
}

func (f *fetched) differs(now *fetched) bool {
	return f.n != now.n || !slices.EqualFunc(f.rows, now.rows, func(a, b kv.Row) bool {
		return bytes.Equal(a.Key, b.Key) && bytes.Equal(a.Value, b.Value)
	})
}

// Get returns the value of a key.
func (s *snapshot) Get(key []byte) ([]byte, error) {
	if v, ok := s.known[string(key)]; ok {
		return v, nil
	}
	s.note([][]byte{key}, nil)
	var v []byte
	err := s.send(1, func(b *batch) {
		s.get(b, [][]byte{key}, func(_, stored []byte) { v = s.room.own(stored) })
	})
	if err != nil {
		return nil, err
	}
	s.learn(string(key), v)
	return v, nil
}

// GetMany returns the values of keys.
func (s *snapshot) GetMany(keys [][]byte) ([][]byte, error) {
	ask := s.unknown(keys)
	found := make(map[string][]byte, len(ask))
	if err := s.fetch(ask, nil, func(k string, v []byte) { found[k] = v }); err != nil {
		return nil, err
	}
	out := make([][]byte, len(keys))
	for i, k := range keys {
		v, ok := found[string(k)]
		if !ok {
			v = s.known[string(k)]
		}
		out[i] = v
	}
	for _, k := range ask {
		if s.optimistic { // to be compared
			s.learn(string(k), found[string(k)])
		}
	}
	return out, nil
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
	if s.known == nil {
		s.known = make(map[string][]byte, min(n, maxKnown))
	}
	if err := s.fetch(ask, more, s.learn); err != nil {
		return err
	}
	for _, k := range ask {
		if _, ok := s.known[string(k)]; !ok {
			s.learn(string(k), nil)
		}
	}
	return nil
}

// unknown are those of some keys that have to be asked for.
func (s *snapshot) unknown(keys [][]byte) [][]byte {
	ask := make([][]byte, 0, len(keys))
	for _, k := range keys {
		if _, ok := s.known[string(k)]; !ok && len(k) > 0 {
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
	alike := together(got)
	err := s.send(min(1, len(ask))+len(alike), func(b *batch) {
		if len(ask) > 0 {
			s.get(b, ask, func(k, v []byte) { found(string(k), s.room.own(v)) })
		}
		for _, some := range alike {
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
func together(all []fetched) (alike [][]fetched) {
	for begin := 0; begin < len(all); {
		end := begin + 1
		for first := &all[begin]; end < len(all) && first.alike(&all[end]); end++ {
		}
		alike = append(alike, all[begin:end])
		begin = end
	}
	return alike
}

func (f *fetched) alike(g *fetched) bool {
	return !f.CountOnly && !g.CountOnly && f.End != nil && g.End != nil && f.Limit == g.Limit && f.KeysOnly == g.KeysOnly && f.Reverse == g.Reverse &&
		slices.EqualFunc(f.Follow, g.Follow, bytes.Equal)
}

// many is ask, or follow, for ranges that are alike.
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

// learn remembers what a key holds.
func (s *snapshot) learn(key string, v []byte) {
	if s.known == nil || len(s.known) >= maxKnown {
		s.known, s.forgot = map[string][]byte{}, s.known != nil
	}
	s.known[key] = v
}

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

// Discard ends the transaction, behind the caller's back.
func (s *snapshot) Discard() {
	c := s.conn
	if c == nil {
		s.s.running.Done()
		return
	}
	s.conn = nil
	if s.broken == nil {
		s.broken = errClosed
	}
	if c.Conn().PgConn().TxStatus() == 'I' || c.Conn().IsClosed() {
		c.Release()
		s.s.running.Done()
		return
	}
	go func() {
		defer s.s.running.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		b := newBatch(c.Conn().PgConn())
		b.add("rollback", nil)
		release(c, b.send(ctx) != nil)
	}()
}
