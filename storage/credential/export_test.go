package credential

import (
	"testing"

	"catena/storage"
)

// Unlist has a store as an earlier version of the program left it: sessions are not listed by user.
func Unlist(t *testing.T, repo *storage.Repo) {
	t.Helper()
	err := repo.Update(t.Context(), repo.System(), func(tx *storage.Tx) error {
		for key := range tx.Secret(sessionsOf).Scan("", "", false, 0) {
			if err := tx.Secret(sessionsOf).Delete(key); err != nil {
				return err
			}
		}
		return tx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Reads returns how many sessions are read to list those of a user.
func Reads(t *testing.T, repo *storage.Repo, user string) (n int) {
	t.Helper()
	err := repo.View(t.Context(), repo.System(), func(tx *storage.Tx) error {
		for _, err := range sessionNames(tx, user) {
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}
