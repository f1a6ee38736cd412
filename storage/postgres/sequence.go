package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Value and Swap are statements of their own, which no transaction that is serializable can conflict with: in a small table,
// a counter stands on a page with rows that such transactions read.

// Value returns the committed value of a key.
func (s *Store) Value(ctx context.Context, key []byte) (value []byte, err error) {
	err = s.spare.QueryRow(ctx, "SELECT v FROM kv WHERE k = $1", key).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return value, failed(ctx, err)
}

// Swap changes the value of a key, or creates it.
func (s *Store) Swap(ctx context.Context, key, before, now []byte) (bool, error) {
	statement, values := "UPDATE kv SET v = $2 WHERE k = $1 AND v = $3", []any{key, now, before}
	if before == nil {
		statement, values = "INSERT INTO kv (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING", values[:2]
	}
	tag, err := s.spare.Exec(ctx, statement, values...)
	return tag.RowsAffected() == 1, failed(ctx, err)
}
