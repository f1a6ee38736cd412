package postgres

import (
	"context"
	"time"

	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/jackc/pgx/v5"
)

// Everyone who has the store open holds an advisory lock of its schema with each connection for transactions, shared with
// others. One process alone holds it with a connection of its own, through which it also loads rows: while it has that
// connection, nobody else is given one.
const (
	using     = 0x63617465
	aloneTime = 5 * time.Second // for connections of others that are being closed
)

// errAlone is why no connection is given.
var errAlone error = fault.Unavailable.Errorf("store: another process has the database for itself, such as catena copy")

// isolate waits a moment for others to be gone and keeps them out from then on.
func (s *Store) isolate(ctx context.Context, config *pgx.ConnConfig) error {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return refused(ctx, err)
	}
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		var alone bool
		if err = c.QueryRow(ctx, "SELECT pg_try_advisory_lock($1, hashtext(current_schema()))", using).Scan(&alone); err != nil {
			err = failed(ctx, err)
			break
		}
		if alone {
			s.own = c
			return nil
		}
		if time.Since(began) > aloneTime {
			err = fault.Unavailable.Errorf("store: in use by another process, probably a server: stop all that use the database")
			break
		}
	}
	_ = c.Close(context.WithoutCancel(ctx))
	return err
}

// Load adds rows by COPY.
func (s *Store) Load(ctx context.Context, rows []kv.Row) error {
	s.ownUse.Lock()
	defer s.ownUse.Unlock()
	if s.own == nil {
		return fault.Invalid.Errorf("store: rows can be loaded only by a process that has the database for itself")
	}
	size := 0
	for _, r := range rows {
		size += rowRoom + len(r.Key) + len(r.Value)
	}
	in := copyHead(size)
	for _, r := range rows {
		in = copyRow(in, r.Key, r.Value)
	}
	return failed(ctx, copyIn(ctx, s.own.PgConn(), in))
}

// Held returns why others may have had access since the store was opened for one process alone, or nil.
func (s *Store) Held(ctx context.Context) error {
	s.ownUse.Lock()
	defer s.ownUse.Unlock()
	if s.own == nil {
		return fault.Invalid.Errorf("store: is not open for one process alone")
	}
	return failed(ctx, s.own.Ping(ctx))
}
