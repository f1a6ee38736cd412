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

// maxFetched is how many bytes of ranges a snapshot remembers.
const maxFetched = 32 << 20

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

	known   known
	fetched []fetched
	size    int  // of what was fetched
	forgot  bool // some of that is remembered no longer
	room    room
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
	changed, missing := s.forgot || s.known.forgot(), 0
	if s.known.len() > 0 {
		keys := make([][]byte, 0, s.known.len())
		for k, v := range s.known.all() {
			if keys = append(keys, []byte(k)); v != nil {
				missing++
			}
		}
		b.add("get", func(row [][]byte) error {
			missing--
			v, _ := s.known.get(row[0])
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
	if v, ok := s.known.get(key); ok {
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
	s.known.put(string(key), v)
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
			v, _ = s.known.get(k)
		}
		out[i] = v
	}
	for _, k := range ask {
		if s.optimistic { // to be compared
			s.known.put(string(k), found[string(k)])
		}
	}
	return out, nil
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
