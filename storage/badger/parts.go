package badger

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/kv"
)

// Badger takes nothing larger than a batch, which is a share of a memtable, and memtables are small. A
// larger value is kept in parts, in rows of their own that begin with partPrefix; its row is marked and
// holds the name of the parts, which is made from what is in them: however often the log is replayed, and
// at which versions, it makes the same rows. Whatever takes the place of the value removes its parts.

const (
	partSize = 256 << 10
	partSum  = 16      // bytes of the name of parts
	inParts  = byte(1) // marks a row whose value is kept in parts
)

var partPrefix = []byte("!part!")

// parts names the parts of a value: a sum of it, and how many there are.
type parts [partSum + 2]byte

func partsOf(value []byte) (p parts) {
	sum := sha256.Sum256(value)
	copy(p[:], sum[:partSum])
	binary.BigEndian.PutUint16(p[partSum:], uint16((len(value)+partSize-1)/partSize))
	return p
}

func (p parts) count() int { return int(binary.BigEndian.Uint16(p[partSum:])) }

// key is that of one part of the value of a key.
func (p parts) key(of []byte, i int) []byte {
	k := make([]byte, 0, len(partPrefix)+len(p)+2+len(of))
	k = append(append(k, partPrefix...), p[:]...)
	return append(binary.BigEndian.AppendUint16(k, uint16(i)), of...)
}

// parsePart reads a key that parts.key made.
func parsePart(key []byte) (p parts, of []byte, ok bool) {
	rest, ok := bytes.CutPrefix(key, partPrefix)
	if !ok || len(rest) < len(p)+2 {
		return p, nil, false
	}
	copy(p[:], rest)
	return p, rest[len(p)+2:], true
}

// stored is a row as Badger takes it; no value removes it.
type stored struct {
	key, value []byte
	mark       byte
}

// rows calls fn with the rows that a write becomes.
func (s *store) rows(w kv.Mutation, fn func(stored) error) error {
	old, had := s.inParts[string(w.Key)]
	if !had && len(w.Value) <= partSize {
		return fn(stored{key: w.Key, value: w.Value})
	}
	row := stored{key: w.Key, value: w.Value}
	var now parts
	if len(w.Value) > partSize {
		now = partsOf(w.Value)
		row.value, row.mark = now[:], inParts
		for i := range now.count() {
			part := w.Value[i*partSize : min((i+1)*partSize, len(w.Value))]
			if err := fn(stored{key: now.key(w.Key, i), value: part}); err != nil {
				return err
			}
		}
	}
	if row.mark == inParts {
		s.inParts[string(w.Key)] = now
	} else {
		delete(s.inParts, string(w.Key))
	}
	if err := fn(row); err != nil || !had || old == now {
		return err
	}
	for i := range old.count() {
		if err := fn(stored{key: old.key(w.Key, i)}); err != nil {
			return err
		}
	}
	return nil
}

// whole returns the value of an item, which is the caller's as long as the item is.
func whole(txn *badger.Txn, item *badger.Item) (value []byte, err error) {
	err = item.Value(func(v []byte) error { value = v; return nil })
	if err != nil || item.UserMeta() != inParts {
		return value, err
	}
	var p parts
	if copy(p[:], value) != len(value) || len(value) != len(p) {
		return nil, corrupt("key %q: the name of the parts of its value is not one", item.Key())
	}
	joined := make([]byte, 0, p.count()*partSize)
	for i := range p.count() {
		part, err := txn.Get(p.key(item.Key(), i))
		if err != nil {
			return nil, corrupt("key %q: part %d of its value: %v", item.Key(), i, err)
		}
		if err := part.Value(func(v []byte) error { joined = append(joined, v...); return nil }); err != nil {
			return nil, err
		}
	}
	return joined, nil
}

// findParts finds the values that are kept in parts at a version, and the parts nothing refers to: those
// of writes that came to nothing.
func (s *store) findParts(version uint64) (unused [][]byte, err error) {
	defer caught(&err)
	s.inParts = map[string]parts{}
	txn := s.db.NewTransactionAt(version, false)
	defer txn.Discard()
	it := txn.NewIterator(badger.IteratorOptions{Prefix: partPrefix})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().KeyCopy(nil)
		p, of, ok := parsePart(key)
		if !ok {
			return nil, corrupt("key %q: not that of a part", key)
		}
		item, err := txn.Get(of)
		used := false
		if err == nil && item.UserMeta() == inParts {
			err = item.Value(func(v []byte) error { used = bytes.Equal(v, p[:]); return nil })
		}
		switch {
		case err != nil && !errors.Is(err, badger.ErrKeyNotFound):
			return nil, broken(err)
		case used:
			s.inParts[string(of)] = p
		default:
			unused = append(unused, key)
		}
	}
	return unused, nil
}

// dropParts finds the values that are kept in parts once the log is replayed, and removes parts that
// nothing refers to.
func (s *store) dropParts(version uint64) (err error) {
	unused, err := s.findParts(version)
	if err != nil || len(unused) == 0 {
		return err
	}
	defer caught(&err)
	b := s.db.NewManagedWriteBatch()
	defer b.Cancel()
	for _, key := range unused {
		if err := b.DeleteAt(key, version); err != nil {
			return err
		}
	}
	return b.Flush()
}
