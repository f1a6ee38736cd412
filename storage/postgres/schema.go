package postgres

import (
	"context"
	"errors"

	"catena/storage/fault"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// migrations make the tables, one format after the other. What is here is never changed, only followed: a node of the
// version before works on with the tables.
var migrations = []string{
	`CREATE TABLE kv (k bytea PRIMARY KEY, v bytea NOT NULL)
		WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.1, autovacuum_vacuum_cost_delay = 1);
	CREATE TABLE slots (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, token bigint NOT NULL, used timestamptz NOT NULL DEFAULT now())
		WITH (fillfactor = 30, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
	CREATE TABLE probe (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n bigint NOT NULL);`,
	`CREATE TABLE settings (name text PRIMARY KEY, value text NOT NULL);`,
}

// migrating is the advisory lock that one process at a time holds while it changes the tables.
const migrating = 0x636174656e61

// migrate brings the tables up to date, and drops the slots of connections that are long gone.
func migrate(ctx context.Context, c *pgx.Conn, schema string) error {
	err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(migrating)); err != nil {
			return err
		}
		var have bool
		if err := tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", pgx.Identifier{schema, "format"}.Sanitize()).Scan(&have); err != nil {
			return err
		}
		if !have {
			if err := create(ctx, tx, schema); err != nil {
				return err
			}
		}
		var format int
		if err := tx.QueryRow(ctx, "SELECT number FROM format").Scan(&format); err != nil {
			return err
		}
		if format > len(migrations) {
			return fault.Invalid.Errorf("store: the tables have format %d, this version knows %d: start a version that is at least as new", format, len(migrations))
		}
		for ; format < len(migrations); format++ {
			if _, err := tx.Exec(ctx, migrations[format]); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, "UPDATE format SET number = $1", format+1); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, "DELETE FROM slots WHERE used < now() - interval '2 days'")
		return err
	})
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == "42501" {
		return fault.Invalid.Errorf("store: the user of the database may not create its schema: GRANT CREATE ON DATABASE, or CREATE SCHEMA %s AUTHORIZATION the user: %w", schema, err)
	}
	return failed(ctx, err)
}

// create makes the schema and the table of its format.
func create(ctx context.Context, tx pgx.Tx, schema string) error {
	var there bool
	err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)", schema).Scan(&there)
	if err == nil && !there {
		_, err = tx.Exec(ctx, "CREATE SCHEMA "+pgx.Identifier{schema}.Sanitize())
	}
	if err == nil {
		_, err = tx.Exec(ctx, "CREATE TABLE format (number int NOT NULL)")
	}
	if err == nil {
		_, err = tx.Exec(ctx, "INSERT INTO format VALUES (0)")
	}
	return err
}
