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
	shown atomic.Pointer[map[string]Shown]
}

// Shown says how a directory shows what another package keeps.
type Shown struct {
	// Named are the fields for whose texts Find finds names without reading all rows.
	Named []string
	Find  func(tx *storage.Tx, text string) (names []string, err error)
	// Fields returns the fields of what a row of a name says.
	Fields func(name string, row []byte) (map[string]string, error)
}

// Owner gives repositories for which nothing else is declared the default directories, which show what is kept in the
// tables of the names of shown.
func Owner(shown map[string]Shown) storage.Owner {
	return storage.Owner{Name: "directory", Open: func(_ context.Context, r *storage.Repo) error {
		known := row.Of[registry](r.Memory())
		known.shown.Store(&shown)
		if known.Load() != nil {
			return nil
		}
		all, err := directory.Load(r.Types(), directory.Defaults())
		known.Store(all)
		return err
	}}
}

// Use gives repositories the directories that are declared. It comes before Owner among the owners.
func Use(all *directory.Registry) storage.Owner {
	return storage.Owner{Name: "declared directories", Open: func(_ context.Context, r *storage.Repo) error {
		Change(r, all)
		return nil
	}}
}

// Change gives the repositories of a store other directories.
func Change(r *storage.Repo, all *directory.Registry) { row.Of[registry](r.Memory()).Store(all) }

// Registry returns the directories of a repository with the texts of their labels.
func Registry(r *storage.Repo) *directory.Registry { return row.Of[registry](r.Memory()).Load() }
