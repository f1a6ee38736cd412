package credential

import (
	"sync"

	"catena/storage"
	"catena/storage/internal/row"
)

// mostDecoded bounds the rows that are kept decoded.
const mostDecoded = 1000

// decoded are the last rows that were read of what signs requests in, decoded, by their text: each request asks for the same
// row twice, and decoding it takes longer than all else. The row is read from the store each time, so what is found here is
// what it says now.
type decoded[T any] struct {
	mu    sync.RWMutex
	byRow map[string]T
}

// read decodes the row of a key into into, as Table.Get does. What it refers to is shared, and is not to be changed.
func read[T any](tx *storage.Tx, table row.Secret, key string, into *T) (ok bool, err error) {
	raw, err := tx.Secret(table).Row(key)
	if err != nil || raw == nil {
		return false, err
	}
	known := row.Of[decoded[T]](tx.Repo().Memory())
	known.mu.RLock()
	v, found := known.byRow[string(raw)]
	known.mu.RUnlock()
	if found {
		*into = v
		return true, nil
	}
	if ok, err = tx.Secret(table).Get(key, into); err != nil || !ok {
		return ok, err
	}
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.byRow == nil || len(known.byRow) >= mostDecoded {
		known.byRow = map[string]T{}
	}
	known.byRow[string(raw)] = *into
	return true, nil
}
