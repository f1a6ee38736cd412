package decks

import (
	"slices"

	"catena/storage"
	"catena/storage/fault"
)

// blocksOf returns the blocks of a folder, the newest first.
func blocksOf(tx *storage.Tx, folder string) (all []block, err error) {
	for _, raw := range tx.Table(blockTable).Scan(folder+"/", folder+"0", true, 0) {
		row, err := readRow[[]block](raw)
		if err != nil {
			return nil, fault.Internal.Errorf("blocks of decks: %w", err)
		}
		slices.Reverse(row)
		all = append(all, row...)
	}
	return all, nil
}

// leap returns the listing below which the decks of a folder from an offset on are, and how
// many of those below it come before them.
func leap(tx *storage.Tx, folder string, total, offset int64) (below string, rest int64, err error) {
	below = folder + "0"
	if offset < 2*blockSize {
		return below, offset, nil
	}
	all, err := blocksOf(tx, folder)
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
	from, err := tailOf(tx, folder)
	if err != nil {
		return below, offset, err
	}
	below, offset = listed(folder, from), offset-tail
	for _, b := range all {
		if offset < b.Count {
			break
		}
		below, offset = listed(folder, b.From), offset-b.Count
	}
	return below, offset, nil
}
