package postgres

import (
	"context"
	"errors"
	"maps"
	"net"
	"time"

	"catena/storage/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// parameters hold for every session. Reads must use the index of the keys: a scan of the whole table would guard all of
// it, so that every writer conflicts with the transaction.
var parameters = map[string]string{
	"application_name":                    "catena",
	"default_transaction_isolation":       "read committed", // transactions say that they are serializable
	"enable_seqscan":                      "off",
	"enable_bitmapscan":                   "off",
	"enable_hashjoin":                     "off",
	"enable_mergejoin":                    "off",
	"enable_material":                     "off",
	"jit":                                 "off", // the cost of scans that are off would trigger it
	"plan_cache_mode":                     "force_generic_plan",
	"idle_in_transaction_session_timeout": "10min",
	// A node that is gone holds its locks and its place in the order no longer than this, in seconds, and milliseconds for what the
	// database has sent. A Unix socket needs none of it, and ignores it.
	"tcp_keepalives_idle":     "5",
	"tcp_keepalives_interval": "1",
	"tcp_keepalives_count":    "5",
	"tcp_user_timeout":        "10000",
	"lock_timeout":            "5s",
	"statement_timeout":       "60s",
	"timezone":                "UTC",
	"client_encoding":         "UTF8",
}

// configure reads an address and sets what every session needs.
func (s *Store) configure(address string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, fault.Invalid.Errorf("store: %w", err)
	}
	c := config.ConnConfig
	maps.Copy(c.RuntimeParams, parameters)
	c.RuntimeParams["search_path"] = pgx.Identifier{s.opts.Schema}.Sanitize()
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTime {
		c.ConnectTimeout = connectTime
	}
	// A machine that is gone is noticed although nobody says so: 10 seconds without an answer end the connection.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: time.Second, Count: 5}, Control: impatient}
	c.DialFunc = dialer.DialContext
	if len(c.Fallbacks) > 0 && c.ValidateConnect == nil && s.replica == nil { // several hosts: the one that takes writes
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config, nil
}

// pools makes the pools of the store.
func (s *Store) pools(ctx context.Context, base *pgxpool.Config) (err error) {
	if s.main, err = s.pool(ctx, base, s.opts.Connections); err != nil {
		return err
	}
	if s.spare, err = s.pool(ctx, base, reserve); err != nil {
		s.main.Close()
	}
	return err
}

// pool makes a pool of connections that are ready for transactions.
func (s *Store) pool(ctx context.Context, base *pgxpool.Config, size int) (*pgxpool.Pool, error) {
	config := base.Copy()
	config.MaxConns, config.MinConns = int32(size), 0
	config.MaxConnIdleTime, config.MaxConnLifetime, config.MaxConnLifetimeJitter = 5*time.Minute, time.Hour, 5*time.Minute
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // the first read finds out
	config.AfterConnect = s.ready
	p, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fault.Invalid.Errorf("store: %w", err)
	}
	return p, nil
}

// ready prepares the statements of a new connection, takes a slot for its commits, and notes that the store is in use.
func (s *Store) ready(ctx context.Context, c *pgx.Conn) error {
	all, err := prepared(ctx, c)
	if err != nil {
		return err
	}
	if s.replica != nil { // it has no commits, and writes nothing
		c.PgConn().CustomData()[linkKey] = &link{statements: all}
		return nil
	}
	var id int64
	var shared bool
	if err := c.QueryRow(ctx, "INSERT INTO slots (token) VALUES (0) RETURNING id, $2 OR pg_try_advisory_lock_shared($1, hashtext(current_schema()))", using, s.own != nil).Scan(&id, &shared); err != nil {
		return err
	}
	if !shared {
		return errAlone
	}
	c.PgConn().CustomData()[linkKey] = &link{slot: slot{id: id}, statements: all}
	return nil
}

// acquire takes a connection.
func (s *Store) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	short, cancel := context.WithTimeout(ctx, crowdTime)
	c, err := s.main.Acquire(short)
	cancel()
	if err == nil || short.Err() == nil {
		return c, down(ctx, err)
	}
	patient, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	c, err = s.spare.Acquire(patient)
	if err != nil && patient.Err() != nil && isFull(s.main) && isFull(s.spare) {
		return nil, fault.Unavailable.Errorf("store: all %d connections to the database are in use", s.opts.Connections+reserve).After(time.Second)
	}
	return c, down(ctx, err) // also where the database takes too long to let a node in
}

// isFull reports whether all connections of a pool are in use.
func isFull(p *pgxpool.Pool) bool {
	now := p.Stat()
	return now.AcquiredConns() == now.MaxConns()
}

// release gives a connection back whose transaction has ended, or has it closed.
func release(c *pgxpool.Conn, broken bool) {
	if broken {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		_ = c.Conn().Close(ctx)
		cancel()
	}
	c.Release()
}

// lost reports whether an error means that the connection is gone, or goes.
func lost(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err != nil
	}
	switch e.Code {
	case "57P01", "57P02", "57P03", "57P05", "25P03", "25006", "08000", "08003", "08006", "53300":
		return true
	}
	return false
}
