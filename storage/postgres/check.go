package postgres

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"strconv"
	"time"

	"catena/storage/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// What a server must have.
const (
	minVersion    = 140000
	minPredicates = 1024
	predicates    = 2048 // recommended
)

// Clocks: how often that of the database is compared with the one of this machine, and from when on a difference is
// worth a warning.
const (
	measureEvery = 30 * time.Second
	muchSkew     = 5 * time.Second
)

// prepare checks the server and brings the tables up to date.
func (s *Store) prepare(ctx context.Context, config *pgxpool.Config) error {
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return refused(ctx, err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := s.checkServer(ctx, c); err != nil {
		return err
	}
	if err := migrate(ctx, c, s.opts.Schema); err != nil {
		return err
	}
	if s.identity, err = identify(ctx, c); err != nil {
		return err
	}
	other, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return refused(ctx, err)
	}
	defer func() { _ = other.Close(context.WithoutCancel(ctx)) }()
	if err := probe(ctx, c, other); err != nil {
		return err
	}
	return s.measure(ctx, c)
}

// identify tells the table of the rows from all others. A user who may not ask for the identity of the cluster goes without it.
func identify(ctx context.Context, c *pgx.Conn) (string, error) {
	var cluster, database, table int64
	var e *pgconn.PgError
	err := c.QueryRow(ctx, "SELECT system_identifier FROM pg_control_system()").Scan(&cluster)
	if err != nil && (!errors.As(err, &e) || e.Code != "42501") {
		return "", failed(ctx, err)
	}
	err = c.QueryRow(ctx, "SELECT d.oid::bigint, 'kv'::regclass::oid::bigint FROM pg_database d WHERE datname = current_database()").Scan(&database, &table)
	return fmt.Sprintf("%x-%x-%x", uint64(cluster), database, table), failed(ctx, err)
}

// refused is why no connection could be made: a server that is not there may come, one that knows better will not.
func refused(ctx context.Context, err error) error {
	var e *pgconn.PgError
	var wrong *tls.CertificateVerificationError
	if errors.As(err, &e) && !lost(err) || errors.As(err, &wrong) {
		return fault.Invalid.Errorf("store: %w", err)
	}
	return down(ctx, err)
}

// checkServer refuses a server that cannot keep the contract, and says what to change.
func (s *Store) checkServer(ctx context.Context, c *pgx.Conn) error {
	setting := func(name string) (v string, err error) {
		err = c.QueryRow(ctx, "SELECT current_setting($1, true)", name).Scan(&v)
		return v, err
	}
	number := func(name string) (int, error) {
		v, err := setting(name)
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(v)
	}
	if v, err := number("server_version_num"); err != nil || v < minVersion {
		return invalid(err, "PostgreSQL %d or later is required, the server has %d", minVersion/10000, v/10000)
	}
	if n, err := number("max_pred_locks_per_transaction"); err != nil || n < minPredicates {
		return invalid(err, "max_pred_locks_per_transaction is %d: set it to %d in postgresql.conf (%d at least) and restart PostgreSQL; with less, transactions that read many rows conflict with all others", n, predicates, minPredicates)
	}
	if v, err := setting("server_encoding"); err != nil || v != "UTF8" {
		return invalid(err, "the encoding of the database is %s: create it with ENCODING 'UTF8'", v)
	}
	var standby bool
	if err := c.QueryRow(ctx, "SELECT pg_is_in_recovery()").Scan(&standby); err != nil || standby {
		return invalid(err, "the server is a standby: name the primary, or all servers of the cluster with target_session_attrs=read-write")
	}
	for name, why := range map[string]string{
		"fsync":              "a power failure may destroy the database",
		"full_page_writes":   "a power failure may destroy the database",
		"synchronous_commit": "a crash of the database may lose commits that were acknowledged",
	} {
		if v, err := setting(name); err != nil {
			return failed(ctx, err)
		} else if v == "off" {
			s.log.Warn("a setting of the database is dangerous", "setting", name, "value", v, "danger", why)
		}
	}
	return s.checkRoom(ctx, number)
}

// checkRoom warns if the server has not enough connections for the pools of one node.
func (s *Store) checkRoom(ctx context.Context, number func(string) (int, error)) error {
	n, err := number("max_connections")
	if err != nil {
		return failed(ctx, err)
	}
	if need := s.opts.Connections + reserve + 2; n < need {
		s.log.Warn("the database takes fewer connections than this node may open", "max_connections", n, "connections", need)
	}
	return nil
}

// invalid is an error about the server, unless it could not be asked.
func invalid(err error, format string, args ...any) error {
	if err != nil {
		return failed(context.Background(), err)
	}
	return fault.Invalid.Errorf("store: %s", fmt.Sprintf(format, args...))
}

// measure compares the clock of the database with the one of this machine.
func (s *Store) measure(ctx context.Context, c *pgx.Conn) error {
	var there time.Time
	before := time.Now()
	if err := c.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&there); err != nil {
		return failed(ctx, err)
	}
	took := time.Since(before)
	skew := there.Sub(before.Add(took / 2))
	if skew.Abs() <= took { // as good as the measurement is
		skew = 0
	}
	s.skew.Store(int64(skew))
	if skew.Abs() > muchSkew {
		s.log.Warn("the clocks of this machine and of the database differ", "ahead", -skew)
	}
	return nil
}

// probe has two transactions read what the other one writes: a server where both commit offers snapshot isolation under
// the name of SERIALIZABLE.
func probe(ctx context.Context, a, b *pgx.Conn) error {
	for range 3 {
		if both, err := skewed(ctx, a, b); err != nil || !both {
			return err
		}
	}
	return fault.Invalid.Errorf("store: the server commits two transactions that each read what the other one writes: its level SERIALIZABLE is only snapshot isolation, which catena cannot work with")
}

// skewed plays a write skew and reports whether both transactions were committed. It plays among the settings, which no transaction
// locks: those that hold up commits (BeginAlone) could come between the two, so that each waits for the other.
func skewed(ctx context.Context, a, b *pgx.Conn) (bool, error) {
	x, y := "probe "+rand.Text(), "probe "+rand.Text()
	if _, err := a.Exec(ctx, "INSERT INTO settings (name, value) VALUES ($1, '0'), ($2, '0')", x, y); err != nil {
		return false, failed(ctx, err)
	}
	defer func() {
		_, _ = a.Exec(context.WithoutCancel(ctx), "DELETE FROM settings WHERE name IN ($1, $2)", x, y)
	}()
	level := pgx.TxOptions{IsoLevel: pgx.Serializable}
	ta, err := a.BeginTx(ctx, level)
	if err != nil {
		return false, failed(ctx, err)
	}
	defer func() { _ = ta.Rollback(context.WithoutCancel(ctx)) }()
	tb, err := b.BeginTx(ctx, level)
	if err != nil {
		return false, failed(ctx, err)
	}
	defer func() { _ = tb.Rollback(context.WithoutCancel(ctx)) }()
	step := func(tx pgx.Tx, sql string, args ...any) {
		if err == nil {
			_, err = tx.Exec(ctx, sql, args...)
		}
	}
	const read, write = "SELECT value FROM settings WHERE name = $1", "UPDATE settings SET value = '1' WHERE name = $1"
	step(ta, read, x)
	step(tb, read, y)
	step(ta, write, y)
	step(tb, write, x)
	if err == nil {
		err = ta.Commit(ctx)
	}
	if err == nil {
		err = tb.Commit(ctx)
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "40001" {
		return false, nil
	}
	return err == nil, failed(ctx, err)
}
