package decks

import (
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// seal makes blocks of the first decks of a tail that is long enough.
func (l deckList) seal(tx *storage.Tx, from string) error {
	total, err := counted(tx, l.folder)
	if err != nil {
		return err
	}
	all, err := l.blocks(tx)
	if err != nil {
		return err
	}
	tail := l.of(total)
	for _, b := range all {
		tail -= b.Count
	}
	for range maxSeals {
		if tail < 2*blockSize {
			return nil
		}
		page, err := tx.Query("SELECT * FROM Deck WHERE "+l.by+" >= ? AND "+l.by+" < ?"+live+" ORDER BY "+l.by, storage.QueryOptions{
			Args: []any{l.folder + "/" + from, l.folder + "0"}, PageOptions: storage.PageOptions{Offset: blockSize, Limit: 1, CountLimit: -1},
		})
		if err != nil || len(page.Docs) == 0 {
			return err
		}
		_, next, _ := strings.Cut(prop[string](page.Docs[0], l.by), "/")
		if err := l.append(tx, block{from, blockSize}); err != nil {
			return err
		}
		if err := tx.Table(sealTable).Put(l.name(), next); err != nil {
			return err
		}
		from, tail = next, tail-blockSize
	}
	return nil
}

// append adds a block behind all others.
func (l deckList) append(tx *storage.Tx, b block) error {
	table := tx.Table(blockTable)
	for key, raw := range table.Scan(l.name()+"/", l.name()+"0", true, 1) {
		row, err := readRow[[]block](raw)
		if err != nil {
			return fault.Internal.Errorf("blocks of decks: %w", err)
		}
		if len(row) < rowBlocks {
			return table.Put(key, append(row, b))
		}
	}
	return table.Put(l.name()+"/"+b.From, []block{b})
}
