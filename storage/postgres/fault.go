package postgres

import (
	"context"
	"errors"
	"strings"

	"catena/storage/fault"
	"catena/storage/kv"

	"github.com/jackc/pgx/v5/pgconn"
)

// failed is an error of a statement as the callers of a store know it.
func failed(ctx context.Context, err error) error {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.Unavailable.Errorf("store: %w", context.Cause(ctx))
	case lost(err):
		return down(ctx, err)
	case !errors.As(err, &e):
		return fault.Internal.Errorf("store: %w", err)
	}
	switch e.Code {
	case "40001", "40P01", "55P03":
		return kv.ErrConflict
	case "23505":
		return fault.Exists.Errorf("key already exists: %s", e.Detail)
	case "53100":
		return fault.Unavailable.Errorf("store: the disk of the database is full: %w", err).WithCode(fault.CodeDiskFull)
	case "53200":
		if strings.Contains(e.Hint, "max_pred_locks_per_transaction") {
			return fault.Unavailable.Errorf("store: the database has no room for the locks of this transaction: raise max_pred_locks_per_transaction: %w", err)
		}
		return fault.Unavailable.Errorf("store: %w", err)
	case "57014":
		return fault.Unavailable.Errorf("store: a statement took longer than a minute: %w", err)
	}
	return fault.Internal.Errorf("store: %w", err)
}

// down is an error of the connection. Nothing was written.
func down(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.Unavailable.Errorf("store: %w", context.Cause(ctx))
	}
	out := fault.Unavailable.Errorf("store: %w: %s", kv.ErrDown, err)
	return out
}
