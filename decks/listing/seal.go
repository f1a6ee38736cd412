package listing

import (
	"slices"
	"strings"

	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/search"
)

// seal makes blocks of the first decks of a tail that is long enough.
func (l List) seal(tx *storage.Tx, from string) error {
	total, err := counted(tx, l.Folder)
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
		// At least one block's worth of decks stays in the tail, as changes are mostly to recent decks.
		if tail < 2*blockSize {
			return nil
		}
		next, err := l.boundary(tx, from, blockSize)
		if err != nil || next == "" {
			return err
		}
		if err := l.append(tx, Block{from, blockSize}); err != nil {
			return err
		}
		if err := tx.Table(sealTable).Put(l.name(), next); err != nil {
			return err
		}
		from, tail = next, tail-blockSize
	}
	return nil
}

// boundary returns where the deck is that comes so many behind the first one from a place on; empty
// if there is none.
func (l List) boundary(tx *storage.Tx, from string, behind int64) (string, error) {
	at := ""
	if l.By == ByTeam {
		n := int64(0)
		for key := range tx.Table(teamDeckTable).Scan(l.Folder+"/"+from, l.Folder+"0", false, int(behind)+1) {
			if n == behind {
				at = key
			}
			n++
		}
	} else {
		page, err := search.Query(tx, "SELECT * FROM Deck WHERE "+l.By+" >= ? AND "+l.By+" < ?"+deck.Live+" ORDER BY "+l.By, search.Options{
			Args: []any{l.Folder + "/" + from, l.Folder + "0"}, PageOptions: storage.PageOptions{Offset: int(behind), Limit: 1, CountLimit: -1},
		})
		if err != nil || len(page.Docs) == 0 {
			return "", err
		}
		at = storage.Prop[string](page.Docs[0], l.By)
	}
	_, at, _ = strings.Cut(at, "/")
	return at, nil
}

// put writes a row of blocks of which one has changed. A block that has grown too large becomes
// two, and so does the row: a team's list grows in its middle when somebody with decks joins.
func (l List) put(tx *storage.Tx, key string, row []Block, i int) error {
	table := tx.Table(BlockTable)
	if row[i].Count > MaxBlock {
		half := row[i].Count / 2
		at, err := l.boundary(tx, row[i].From, half)
		if err != nil {
			return err
		}
		// An empty place means that there are fewer decks than were counted; the block then stays as it is.
		if at > row[i].From {
			row = slices.Insert(row, i+1, Block{at, row[i].Count - half})
			row[i].Count = half
		}
	}
	if half := len(row) / 2; len(row) > rowBlocks {
		if err := table.Put(l.name()+"/"+row[half].From, row[half:]); err != nil {
			return err
		}
		row = row[:half]
	}
	return table.Put(key, row)
}

// append adds a block behind all others.
func (l List) append(tx *storage.Tx, b Block) error {
	table := tx.Table(BlockTable)
	for key, raw := range table.Scan(l.name()+"/", l.name()+"0", true, 1) {
		row, err := deck.ReadRow[[]Block](raw)
		if err != nil {
			return fault.Internal.Errorf("blocks of decks: %w", err)
		}
		if len(row) < rowBlocks {
			return table.Put(key, append(row, b))
		}
	}
	return table.Put(l.name()+"/"+b.From, []Block{b})
}
