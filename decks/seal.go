package decks

import (
	"catena/storage"
	"catena/storage/fault"
)

// makeBlocks makes blocks of the oldest decks of a tail that is long enough.
func makeBlocks(tx *storage.Tx, folder string, from int64) error {
	total, err := counted(tx, folder)
	if err != nil {
		return err
	}
	all, err := blocksOf(tx, folder)
	if err != nil {
		return err
	}
	tail := total.Active
	for _, b := range all {
		tail -= b.Count
	}
	for range maxSeals {
		if tail < 2*blockSize {
			return nil
		}
		page, err := tx.Query("SELECT * FROM Deck WHERE deck:listing >= ? AND deck:listing < ?"+live+" ORDER BY deck:listing", storage.QueryOptions{
			Args: []any{listed(folder, from), folder + "0"}, PageOptions: storage.PageOptions{Offset: blockSize, Limit: 1, CountLimit: -1},
		})
		if err != nil || len(page.Docs) == 0 {
			return err
		}
		next := number(page.Docs[0])
		if err := appendBlock(tx, folder, block{from, blockSize}); err != nil {
			return err
		}
		if err := tx.Table(sealTable).Put(folder, next); err != nil {
			return err
		}
		from, tail = next, tail-blockSize
	}
	return nil
}

// appendBlock adds a block behind all others.
func appendBlock(tx *storage.Tx, folder string, b block) error {
	table := tx.Table(blockTable)
	for key, raw := range table.Scan(folder+"/", folder+"0", true, 1) {
		row, err := readRow[[]block](raw)
		if err != nil {
			return fault.Internal.Errorf("blocks of decks: %w", err)
		}
		if len(row) < rowBlocks {
			return table.Put(key, append(row, b))
		}
	}
	return table.Put(listed(folder, b.From), []block{b})
}
