package badger

import (
	"errors"
	"math"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"catena/storage/badger/values"
	"catena/storage/fault"
	"catena/storage/kv"
)

const (
	// inlineSize is the size of the largest values that tables hold, in bytes. A larger one is in a file of
	// values and its row says where: tables are written again and again as they are merged, files of values once.
	inlineSize = 512
	// elsewhere marks a row that says where its value is.
	elsewhere = byte(2)
)

// openValues opens the files of values the last checkpoint knew.
func (s *store) openValues() (err error) {
	s.values, err = values.Open(s.fs, filepath.Join(s.dir, valuesDir), s.state.id(), s.state.Values)
	if err != nil {
		return unreadable(err)
	}
	for _, name := range s.values.Kept() {
		s.log.Warn("a value file is incomplete and is kept", "file", name)
	}
	return nil
}

// unreadable is what an error of the files of values means for a store.
func unreadable(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, values.ErrDamaged):
		return corrupt("%v", err)
	}
	return fault.Unavailable.Errorf("store: %w", err)
}

// load returns the value of an item, which is the caller's if room is nil as long as the item is, and else in
// memory that room returns; and where it is, of file 0 if that is in the tables.
func (s *store) load(item *badger.Item, room func(n int) []byte) (value []byte, p values.Pointer, err error) {
	p, ok, err := pointerOf(item)
	if err != nil {
		return nil, p, err
	}
	if ok {
		if room != nil {
			value = room(int(p.Size))
		} else {
			value = make([]byte, p.Size)
		}
		return value, p, unreadable(s.values.Read(p, item.Key(), value))
	}
	err = item.Value(func(v []byte) error {
		if value = v; room != nil {
			value = room(len(v))
			copy(value, v)
		}
		return nil
	})
	return value, p, err
}

// pointerOf returns where the value of an item is, if it is not in the tables.
func pointerOf(item *badger.Item) (p values.Pointer, ok bool, err error) {
	if item.UserMeta() != elsewhere {
		return p, false, nil
	}
	err = item.Value(func(v []byte) error {
		if p, ok = values.ParsePointer(v); !ok || int64(p.Size) > int64(kv.Portable.TxBytes) {
			return corrupt("key %q: the location of its value is invalid", item.Key())
		}
		return nil
	})
	return p, ok, err
}

// row is a write as Badger takes it.
type row struct {
	key, value []byte // no value removes it
	mark       byte
}

// underway is where the large values are whose rows are on their way to Badger, by key.
type underway map[string]values.Pointer

// spread brings the large values of writes to files and returns the rows that Badger takes.
func (s *store) spread(writes []kv.Mutation, sent underway) ([]row, error) {
	rows := make([]row, len(writes))
	pointers := make([]byte, 0, len(writes)*values.PointerSize/4)
	now := s.db.NewTransactionAt(math.MaxUint64, false)
	defer now.Discard()
	for i, w := range writes {
		large := len(w.Value) > inlineSize
		if !w.Create && !w.Fresh && (large || w.Value == nil) {
			if err := s.forget(now, w.Key, sent); err != nil {
				return nil, err
			}
		}
		rows[i] = row{key: w.Key, value: w.Value}
		if !large {
			continue
		}
		p, err := s.values.Add(w.Key, w.Value)
		if err != nil {
			return nil, unreadable(err)
		}
		if sent != nil {
			sent[string(w.Key)] = p
		}
		n := len(pointers)
		pointers = p.Append(pointers)
		rows[i].value, rows[i].mark = pointers[n:len(pointers):len(pointers)], elsewhere
	}
	return rows, unreadable(s.values.Flush())
}

// forget counts the value a key has as one nothing refers to. Values that a small one replaces are not
// counted: that would cost a read of most rows.
func (s *store) forget(now *badger.Txn, key []byte, sent underway) error {
	if p, ok := sent[string(key)]; ok {
		s.values.Dead(p, key)
		delete(sent, string(key))
		return nil
	}
	item, err := now.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	p, ok, err := pointerOf(item)
	if ok {
		s.values.Dead(p, key)
	}
	return err
}
