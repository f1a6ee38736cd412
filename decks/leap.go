package decks

import (
	"slices"

	"catena/storage"
	"catena/storage/fault"
)

// blocks returns the blocks of a list, the last first.
func (l deckList) blocks(tx *storage.Tx) (all []block, err error) {
	for _, raw := range tx.Table(blockTable).Scan(l.name()+"/", l.name()+"0", true, 0) {
		row, err := readRow[[]block](raw)
		if err != nil {
			return nil, fault.Internal.Errorf("blocks of decks: %w", err)
		}
		slices.Reverse(row)
		all = append(all, row...)
	}
	return all, nil
}

// leap returns the value below which the decks of a list from an offset on are, and how many
// of those below it come before them. The list has total decks.
func (l deckList) leap(tx *storage.Tx, total, offset int64) (below string, rest int64, err error) {
	below = l.folder + "0"
	if offset < 2*blockSize {
		return below, offset, nil
	}
	all, err := l.blocks(tx)
	if err != nil || len(all) == 0 {
		return below, offset, err
	}
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
	below, offset = l.folder+"/"+from, offset-tail
	for _, b := range all {
		if offset < b.Count {
			break
		}
		below, offset = l.folder+"/"+b.From, offset-b.Count
	}
	return below, offset, nil
}
