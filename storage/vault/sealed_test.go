package vault

import (
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
)

// TestSealed reads the row of a credential: its secret is not in it, and is of no use once what it is for was changed.
func TestSealed(t *testing.T) {
	repo := storagetest.Open(t, nil)
	const secret = "very secret text"
	if err := repo.Update(t.Context(), repo.System(), func(tx *storage.Tx) error {
		if _, err := Put(tx, Credential{Name: "api", Kind: Bearer, URL: "https://a.example/"}, secret); err != nil {
			return err
		}
		row, err := tx.Secret(table).Row("api")
		if err != nil {
			return err
		}
		if !strings.Contains(string(row), "https://a.example/") || strings.Contains(string(row), secret) {
			t.Errorf("the row is %s", row)
		}
		w, err := read(tx, "api")
		if err != nil {
			return err
		}
		w.URL = "https://b.example/"
		if got, err := open(tx, &w); !fault.Is(err, fault.Internal) {
			t.Errorf("for another address: %q, %v", got, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
