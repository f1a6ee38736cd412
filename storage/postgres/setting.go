package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// Setting returns what all who share the database have agreed on under a name, "" if nothing.
func (s *Store) Setting(ctx context.Context, name string) (value string, err error) {
	err = s.spare.QueryRow(ctx, "SELECT value FROM settings WHERE name = $1", name).Scan(&value)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil
	}
	return value, failed(ctx, err)
}

// Set sets it.
func (s *Store) Set(ctx context.Context, name, value string) error {
	_, err := s.spare.Exec(ctx, "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value)
	return failed(ctx, err)
}

// Name is an address without its password and options, as it may be shown.
func Name(address string) string {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return ""
	}
	return "postgres://" + c.Host + "/" + c.Database
}
