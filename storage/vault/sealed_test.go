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

// TestSeal: a text is read again only for what it was sealed for, and by the repository that sealed it.
func TestSeal(t *testing.T) {
	repo, other := storagetest.Open(t, nil), storagetest.Open(t, nil)
	seen := map[string]bool{}
	for _, text := range []string{"", "a", "\x00\xff", "e\u0301", strings.Repeat("x", 1<<20)} {
		for _, about := range []string{"", "a", `["a"]`} {
			sealed, err := vault.Seal(repo, about, text)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := vault.Unseal(repo, about, sealed); got != text || err != nil {
				t.Errorf("%.5q for %q: %.5q, %v", text, about, got, err)
			}
			if seen[string(sealed)] || len(text) > 1 && strings.Contains(string(sealed), text) {
				t.Errorf("%.5q for %q is sealed as %.20x", text, about, sealed)
			}
			seen[string(sealed)] = true
			damaged := append([]byte{}, sealed...)
			damaged[len(damaged)-1] ^= 1
			for name, bad := range map[string]struct {
				repo   *storage.Repo
				about  string
				sealed []byte
			}{
				"for something else": {repo, about + " ", sealed}, "of another repository": {other, about, sealed}, "damaged": {repo, about, damaged}, "cut short": {repo, about, sealed[:len(sealed)-1]},
				"longer": {repo, about, append(sealed[:len(sealed):len(sealed)], 0)}, "almost nothing": {repo, about, sealed[:11]}, "a nonce alone": {repo, about, sealed[:12]}, "nothing": {repo, about, nil},
			} {
				if got, err := vault.Unseal(bad.repo, bad.about, bad.sealed); got != "" || !fault.Is(err, fault.Internal) {
					t.Errorf("%s: %.5q, %v", name, got, err)
				}
			}
		}
	}
}
