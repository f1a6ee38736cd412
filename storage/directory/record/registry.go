package record

import (
	"context"
	"sync/atomic"

	"catena/storage"
	"catena/storage/directory"
	"catena/storage/internal/row"
)

// known is what a store has of directories.
type known struct {
	builtIn atomic.Pointer[directory.Registry] // that there are if none are declared
	shown   atomic.Pointer[map[string]Shown]
}

// Shown says how a directory shows what another package keeps.
type Shown struct {
	// Named are the fields for whose texts Find finds names without reading all rows.
	Named []string
	Find  func(tx *storage.Tx, text string) (names []string, err error)
	// Fields returns the fields of what a row of a name says.
	Fields func(name string, row []byte) (map[string]string, error)
}

// Owner gives repositories for which nothing else is declared the built-in directories, and has directories show what is kept in the
// tables of the names of shown.
func Owner(shown map[string]Shown) storage.Owner {
	return storage.Owner{Name: "directory", Open: func(_ context.Context, r *storage.Repo) error {
		k := row.Of[known](r.Memory())
		k.shown.Store(&shown)
		if r.Beside() != nil || k.builtIn.Load() != nil {
			return nil
		}
		all, err := directory.Load(r.Types(), directory.Defaults())
		k.builtIn.Store(all)
		return err
	}}
}

// Registry returns the directories that a transaction knows, with the texts of their labels.
func Registry(tx *storage.Tx) *directory.Registry { return registry(tx.Repo(), storage.BesideOf(tx)) }

// RegistryOf returns the directories of a repository as they are now.
func RegistryOf(r *storage.Repo) *directory.Registry { return registry(r, r.Beside()) }

func registry(r *storage.Repo, beside any) *directory.Registry {
	if all, ok := beside.(*directory.Registry); ok {
		return all
	}
	return row.Of[known](r.Memory()).builtIn.Load()
}
