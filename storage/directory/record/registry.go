package record

import (
	"context"
	"sync/atomic"

	"catena/storage"
	"catena/storage/directory"
	"catena/storage/internal/row"
)

// registry is which directories the repositories of a store have.
type registry struct {
	atomic.Pointer[directory.Registry]
}

// Owner gives repositories for which nothing else is declared the default directories.
var Owner = storage.Owner{Name: "directory", Open: func(_ context.Context, r *storage.Repo) error {
	known := row.Of[registry](r.Memory())
	if known.Load() != nil {
		return nil
	}
	all, err := directory.Load(r.Types(), directory.Defaults())
	known.Store(all)
	return err
}}

// Use gives repositories the directories that are declared. It comes before Owner among the owners.
func Use(all *directory.Registry) storage.Owner {
	return storage.Owner{Name: "declared directories", Open: func(_ context.Context, r *storage.Repo) error {
		row.Of[registry](r.Memory()).Store(all)
		return nil
	}}
}

// Registry returns the directories of a repository with the texts of their labels.
func Registry(r *storage.Repo) *directory.Registry { return row.Of[registry](r.Memory()).Load() }
