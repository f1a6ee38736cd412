package vault_test

import (
	"strings"
	"testing"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/storagetest"
	"catena/storage/vault"
)

// TestSealed reads the row of a credential: its secret is not in it, and is unused once what it is for was changed.
func TestSealed(t *testing.T) {
	repo := storagetest.Open(t, nil)
	const secret = "very secret text"
	if err := repo.Update(t.Context(), repo.System(), func(tx *storage.Tx) error {
		if _, err := vault.Put(tx, vault.Credential{Name: "api", Kind: vault.Bearer, URL: "https://a.example/"}, secret); err != nil {
			return err
		}
		row, err := vault.Row(tx, "api")
		if err != nil {
			return err
		}
		if !strings.Contains(string(row), "https://a.example/") || strings.Contains(string(row), secret) {
			t.Errorf("the row is %s", row)
		}
		if got, err := vault.OpenFor(tx, "api", "https://a.example/"); got != secret || err != nil {
			t.Errorf("for its own address: %q, %v", got, err)
		}
		if got, err := vault.OpenFor(tx, "api", "https://b.example/"); !fault.Is(err, fault.Internal) {
			t.Errorf("for another address: %q, %v", got, err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
