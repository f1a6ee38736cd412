package postgres

import (
	"encoding/binary"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"
)

// places remembers where rows are in the table, for transactions that may write. To find a row in the index has the database
// watch the whole page of the index: everyone who adds a row there then conflicts with the transaction, and in a young
// folder, or where the rows are that everyone reads, somebody always does. To read a row where it is has it watch just that
// row. A place is a hint: a row that is no longer there is looked for in the index, in the same statement.
type places struct {
	mu         sync.Mutex
	young, old map[string]pgtype.TID
}

// maxPlaces is how many places are remembered at least, and half as many as are at most; one takes about 150 bytes.
const maxPlaces = 10_000

// of returns where the rows of keys were last; a place that is not known is not valid.
func (p *places) of(keys [][]byte) []pgtype.TID {
	at := make([]pgtype.TID, len(keys))
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range keys {
		id, ok := p.young[string(k)]
		if !ok {
			if id, ok = p.old[string(k)]; ok {
				p.keep(string(k), id)
			}
		}
		at[i] = id
	}
	return at
}

// note remembers where a row is.
func (p *places) note(key, raw []byte) {
	if len(raw) != 6 {
		return
	}
	id := pgtype.TID{BlockNumber: binary.BigEndian.Uint32(raw), OffsetNumber: binary.BigEndian.Uint16(raw[4:]), Valid: true}
	p.mu.Lock()
	defer p.mu.Unlock()
	if was, ok := p.young[string(key)]; !ok || was != id {
		p.keep(string(key), id)
	}
}

func (p *places) keep(key string, id pgtype.TID) {
	if p.young == nil || len(p.young) >= maxPlaces {
		p.old, p.young = p.young, map[string]pgtype.TID{}
	}
	p.young[key] = id
}

// get adds the query for rows by key; found gets those that are there.
func (s *snapshot) get(b *batch, keys [][]byte, found func(k, v []byte)) {
	if !s.write {
		b.add("get", func(row [][]byte) error {
			found(row[0], row[1])
			return nil
		}, byteArray(keys))
		return
	}
	b.add("get_at", func(row [][]byte) error {
		found(row[0], row[1])
		s.s.places.note(row[0], row[2])
		return nil
	}, byteArray(keys), placeArray(s.s.places.of(keys)))
}
