package vault

import "catena/storage"

// Row is the row of a credential as it is kept.
func Row(tx *storage.Tx, name string) ([]byte, error) { return tx.Secret(table).Row(name) }

// OpenFor decrypts the secret of a credential as if it were for another address.
func OpenFor(tx *storage.Tx, name, address string) (string, error) {
	w, err := read(tx, name)
	if err != nil {
		return "", err
	}
	w.URL = address
	return open(tx, &w)
}
