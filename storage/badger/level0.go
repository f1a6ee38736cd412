package badger

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
)

// Badger merges tables of level 0 with each other when it cannot merge them with the next level. It then picks
// tables by age and size, not in the order in which they were written, and forgets removals if no deeper level has keys
// between the first and the last of the tables. A row that one of the other tables still has would come back.
// Three rules keep that from happening: all tables of level 0 span all keys, removals are not forgotten before there
// is a deeper level, and no row is written twice at one version.

var (
	reserved = []byte("!badger!") // begins keys that Badger keeps for itself
	filler   = []byte("!filler!") // begins the key of a row that is never there

	first  = []byte{0}                      // before all other keys
	last   = bytes.Repeat([]byte{0xff}, 16) // begins no other key, and is after all others
	bounds = [...]*pb.KV{removal(first), removal(last)}
)

// removal removes a row that is never there.
func removal(key []byte) *pb.KV { return &pb.KV{Key: key, Meta: deleted, Version: 1} }

// isReserved reports whether a key is one that only this package writes.
func isReserved(key []byte) bool {
	return bytes.HasPrefix(key, reserved) || bytes.HasPrefix(key, filler) || bytes.Equal(key, first) || bytes.HasPrefix(key, last)
}

// spanBytes is how much is loaded before the first and the last key are written again. A batch of Badger, which goes to
// one memtable, is larger.
const spanBytes = memtableSize / 16

// A batch of Badger is larger than these, which keep room for what it adds to each row.
const (
	batchBytes = memtableSize / 8
	batchRows  = 10_000
	rowBytes   = 32 // that Badger adds to a row, at most
)

var (
	deleted = []byte{1}         // how Badger marks the removal of a key
	inFile  = []byte{elsewhere} // how a row is marked whose value is in a file
)

// loader brings rows into Badger such that each table they end up in spans all keys. It waits for a batch before it sends
// the next one: Badger ends the process when it is given a batch after one for which it could not make a memtable.
type loader struct {
	s     *store
	into  *badger.KVLoader // the batch that is being filled
	rows  int              // in it
	size  int              // of them
	bytes int              // loaded since the first and the last key
}

// newLoader begins to bring rows into Badger, until end.
func (s *store) newLoader() (*loader, error) {
	l := &loader{s: s, into: s.db.NewKVLoader(1)}
	return l, l.span()
}

// add loads rows.
func (l *loader) add(rows []row, version uint64) error {
	kv := pb.KV{Version: version}
	for _, r := range rows {
		kv.Key, kv.Value, kv.Meta, kv.UserMeta = r.key, r.value, nil, nil
		switch {
		case r.value == nil:
			kv.Meta = deleted
		case r.mark != 0:
			kv.UserMeta = inFile
		}
		if err := l.set(&kv); err != nil {
			return err
		}
	}
	return nil
}

// set loads a row.
func (l *loader) set(row *pb.KV) error {
	if l.bytes += len(row.Key) + len(row.Value); l.bytes > spanBytes {
		if err := l.span(); err != nil {
			return err
		}
	}
	return l.put(row)
}

func (l *loader) put(row *pb.KV) error {
	size := len(row.Key) + len(row.Value) + rowBytes
	if l.rows == batchRows || l.size+size > batchBytes {
		if err := l.send(); err != nil {
			return err
		}
		l.into = l.s.db.NewKVLoader(1)
	}
	l.rows++
	l.size += size
	return l.into.Set(row)
}

// span loads the first and the last key.
func (l *loader) span() error {
	l.bytes = 0
	for _, row := range bounds {
		if err := l.put(row); err != nil {
			return err
		}
	}
	return nil
}

// send has Badger take the batch. Once it refused one, it is given no other. It takes none any longer, and does not say so,
// when its tables cannot be written.
func (l *loader) send() error {
	if refused := l.s.refused.Load(); refused != nil {
		return *refused
	}
	taken := make(chan error, 1)
	go func() { taken <- l.into.Finish() }()
	var err error
	select {
	case err = <-taken:
	case <-l.s.unflushed.given:
		err = l.s.failed.Load().err
	}
	if l.rows, l.size = 0, 0; err != nil {
		l.s.refused.Store(&err)
	}
	return err
}

// end returns once Badger has all rows.
func (l *loader) end() error { return cmp.Or(l.span(), l.send()) }

// discard lets Badger forget what nobody reads at a version or later, once there is a deeper level: it was there the
// last time too, so that no merge has begun without one.
func (s *store) discard(version uint64) {
	if s.deep < 2 {
		if s.deep++; !slices.ContainsFunc(s.db.Levels()[1:], func(l badger.LevelInfo) bool { return l.NumTables > 0 }) {
			s.deep = 0
		}
	}
	if s.deep == 2 {
		s.db.SetDiscardTs(version)
	}
}
