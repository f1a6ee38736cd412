package postgres

import (
	"context"
	"errors"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// slot is the row of a connection: every commit puts the next token there, and is refused if the row holds another
// one than the last. Anyone who has lost the connection at a commit reads the row: it tells whether the commit was made,
// and once another token is there it never will be.
type slot struct {
	id    int64
	token int64
}

// fenced is a token that no commit follows.
const fenced = -1

// Rows and bytes of one statement of a commit.
const (
	chunkRows  = 5000
	chunkBytes = 8 << 20
)

// minCopied is from how many rows on new ones are sent by COPY, which takes longer to begin with, and has less logged for each row.
const minCopied = 500

// maxAhead is how many keys are guarded by a message that also copies rows: nothing reads the answer before all of it is sent.
const maxAhead = 100

// Commit writes a batch and ends the transaction, in one round trip.
func (s *snapshot) Commit(ctx context.Context, b *kv.Batch) error {
	if s.broken != nil {
		return s.broken
	}
	if len(b.Writes) == 0 {
		s.s.wake(b.Wake)
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	if err := s.commit(ctx, b); err != nil {
		s.broken = err
		return err
	}
	s.s.wake(b.Wake)
	return nil
}

// commit sends all statements of a transaction in one round trip, but for many keys to guard, which go before many new rows. If the
// connection is lost before the answer, the commit may have been made or not: the token of this node's slot, which the same
// transaction raises, tells which.
func (s *snapshot) commit(ctx context.Context, b *kv.Batch) (err error) {
	in, rest := copied(b.Writes)
	unread := s.unread(b.Reads.Keys)
	if in != nil && len(unread) > maxAhead {
		if err := s.run(func(b *batch) { s.guard(b, unread) }); err != nil {
			return err
		}
		unread = nil
	}
	begin := s.conn == nil
	if begin {
		if s.conn, err = s.s.acquire(ctx); err != nil {
			s.conn = nil
			return err
		}
	}
	conn := s.conn.Conn().PgConn()
	own := &linkOf(conn).slot
	out := newBatch(conn)
	out.copies = in != nil
	if begin {
		s.begin(out)
	}
	if !kv.Inside(ctx) {
		out.add("enter", nil)
	}
	s.guard(out, unread)
	write(out, rest, b.Strict)
	if in != nil {
		out.copy(in)
	}
	out.add("confirm", nil, number(own.id), number(own.token+1), number(own.token))
	out.add("commit", nil)
	s.trips++
	err = out.send(ctx)
	switch {
	case err == nil:
		own.token++
		return nil
	case outlived(err):
		release(s.conn, true)
		s.conn = nil
		return down(ctx, err)
	case !lost(err) && ctx.Err() == nil:
		return failed(ctx, err)
	}
	release(s.conn, true)
	s.conn = nil
	return s.s.outcome(*own, err)
}

// outlived reports whether a commit was refused because the slot of its connection holds another token, or is gone. No commit of
// this connection will ever be made; one of another connection may.
func outlived(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.Code == "22012" // of the division in the statement confirm
}

// copied are the new rows of a transaction, which are sent by COPY, and what else it writes; nil if they are few.
func copied(writes []kv.Mutation) (in, rest []kv.Mutation) {
	n := 0
	for _, w := range writes {
		if isCopied(w) {
			n++
		}
	}
	if n < minCopied {
		return nil, writes
	}
	in, rest = make([]kv.Mutation, 0, n), make([]kv.Mutation, 0, len(writes)-n)
	for _, w := range writes {
		if isCopied(w) {
			in = append(in, w)
		} else {
			rest = append(rest, w)
		}
	}
	return in, rest
}

func isCopied(w kv.Mutation) bool { return (w.Fresh || w.Create) && w.Value != nil }

// unread are the keys that the transaction rests on without having read them.
func (s *snapshot) unread(keys [][]byte) (unread [][]byte) {
	for _, k := range keys {
		if _, ok := s.known.get(k); !ok {
			unread = append(unread, k)
		}
	}
	return unread
}

// guard has the database watch keys.
func (s *snapshot) guard(b *batch, keys [][]byte) {
	if len(keys) == 0 {
		return
	}
	b.add("guard_at", func(row [][]byte) error {
		s.s.places.note(row[0], row[1])
		return nil
	}, byteArray(keys), placeArray(s.s.places.of(keys)))
}

// write adds the statements that write rows, which are sorted so that transactions wait for each other rather than
// meet in a deadlock.
func write(b *batch, writes []kv.Mutation, strict bool) {
	var gone, newKeys, newValues, keys, values [][]byte
	for _, w := range writes {
		switch {
		case w.Value == nil:
			gone = append(gone, w.Key)
		case w.Create || w.Fresh:
			newKeys, newValues = append(newKeys, w.Key), append(newValues, w.Value)
		default:
			keys, values = append(keys, w.Key), append(values, w.Value)
		}
	}
	for len(gone) > 0 {
		n := min(chunkRows, len(gone))
		b.add("delete", nil, byteArray(gone[:n]))
		gone = gone[n:]
	}
	writeRows(b, "upsert", keys, values)
	writeRows(b, "insert", newKeys, newValues)
	if strict {
		b.add("strict", nil)
	}
}

func writeRows(b *batch, statement string, keys, values [][]byte) {
	for len(keys) > 0 {
		n, size := 0, 0
		for n < len(keys) && n < chunkRows && (n == 0 || size < chunkBytes) {
			size += len(keys[n]) + len(values[n])
			n++
		}
		b.add(statement, nil, byteArray(keys[:n]), byteArray(values[:n]))
		keys, values = keys[n:], values[n:]
	}
}

// outcomePause is the longest pause between attempts to find out what became of a commit: a database that restarts again and again
// may be there for less than a second.
const outcomePause = 200 * time.Millisecond

// outcome finds out what became of a commit whose connection was lost: nil if it was made, else an error that says that
// it was not and never will be, or that nobody knows.
func (s *Store) outcome(of slot, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), commitTime)
	defer cancel()
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, outcomePause) {
		made, err := s.fence(ctx, of)
		switch {
		case err == nil && made:
			s.log.Warn("the connection was lost at a commit, which was made", "err", cause)
			return nil
		case err == nil:
			return fault.Unavailable.Errorf("store: %w: %s", kv.ErrDown, cause)
		case !errors.Is(err, kv.ErrDown) && !errors.Is(err, kv.ErrConflict):
			return fault.Unavailable.Errorf("store: %w: %s", kv.ErrUncertain, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fault.Unavailable.Errorf("store: %w: %s", kv.ErrUncertain, cause)
		}
	}
}

// fence reports whether a commit was made, once no transaction holds the row of the slot any longer. If it was not, no
// commit will follow. It may be asked again.
func (s *Store) fence(ctx context.Context, of slot) (made bool, err error) {
	c, err := s.acquire(ctx)
	if err != nil {
		return false, err
	}
	var token int64
	err = pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		err := tx.QueryRow(ctx, "SELECT token FROM slots WHERE id = $1 FOR UPDATE", of.id).Scan(&token)
		switch {
		case errors.Is(err, pgx.ErrNoRows): // given up long ago, and the commit with it
			return nil
		case err == nil && token == of.token:
			_, err = tx.Exec(ctx, "UPDATE slots SET token = $2 WHERE id = $1", of.id, fenced)
		}
		return err
	})
	release(c, lost(err))
	return token == of.token+1, failed(ctx, err)
}
