package listing

import (
	"slices"

	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
)

// blocks returns the blocks of a list, last first.
func (l List) blocks(tx *storage.Tx) (all []Block, err error) {
	for _, raw := range tx.Table(BlockTable).Scan(l.name()+"/", l.name()+"0", true, 0) {
		row, err := deck.ReadRow[[]Block](raw)
		if err != nil {
			return nil, fault.Internal.Errorf("blocks of decks: %w", err)
		}
		slices.Reverse(row)
		all = append(all, row...)
	}
	return all, nil
}

// Seek returns the value below which the decks of a list from an offset on are, and how many
// of those below it come before them. The list has total decks.
func (l List) Seek(tx *storage.Tx, total, offset int64) (below string, rest int64, err error) {
	below = l.Folder + "0"
	// A walk this short costs less than reading the blocks.
	if offset < 2*blockSize {
		return below, offset, nil
	}
	all, err := l.blocks(tx)
	if err != nil || len(all) == 0 {
		return below, offset, err
	}
	// The tail has no count of its own: it is what the blocks leave over.
	tail := total
	for _, b := range all {
		tail -= b.Count
	}
	if offset < tail {
		return below, offset, nil
	}
	from, err := l.tail(tx)
	if err != nil {
		return below, offset, err
	}
	below, offset = l.Folder+"/"+from, offset-tail
	for _, b := range all {
		if offset < b.Count {
			break
		}
		below, offset = l.Folder+"/"+b.From, offset-b.Count
	}
	return below, offset, nil
}
