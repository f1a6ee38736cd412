package decks

import (
	"catena/storage"
	"catena/storage/fault"
)

// counting is a block and where it begins.
type counting struct {
	from  string // listing
	count int64
}

// blocksOf returns the blocks of a folder, the newest first.
func blocksOf(tx *storage.Tx, folder string) (all []counting, err error) {
	for key, raw := range tx.Table(blockTable).Scan(folder+"/", folder+"0", true, 0) {
		b, err := readRow[block](raw)
		if err != nil {
			return nil, fault.Internal.Errorf("block of decks: %w", err)
		}
		all = append(all, counting{key, b.Count})
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
		tail -= b.count
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
		if offset < b.count {
			break
		}
		below, offset = b.from, offset-b.count
	}
	return below, offset, nil
}
