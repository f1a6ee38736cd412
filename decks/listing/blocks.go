package listing

import (
	"strconv"
	"strings"

	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
)

// The older decks of a list are counted in blocks, so that a page far down is found without a
// walk over all before it. What a list has since its last block is its tail.
const (
	BlockTable = "deck-list-blocks" // list "/" place that the first begins with: up to rowBlocks blocks
	sealTable  = "deck-list-seals"  // list: place that the tail begins with
	// Blocks are small enough that a page walks few decks, and large enough that a list of 100,000 has under 800.
	blockSize = 128 // decks of a block when it is made
	MaxBlock  = 2 * blockSize
	// Blocks of a row: it is read and written as a whole, so an insertion in the middle must stay cheap.
	rowBlocks = 64
	SealEvery = 64 // one new deck in so many looks whether a block can be made
	// It bounds the work of the transaction that happens to make blocks; a long tail is caught up with later.
	maxSeals = 16 // blocks made at once
)

// List is the decks of a folder in the order of a property: its value is the folder, a slash
// and the deck's place. A team's list has rows instead, and the team's group for a folder.
type List struct{ By, Folder string }

// What decks are listed by, apart from deck:public, which is not counted.
const (
	byListing = "deck:listing"
	byBinned  = "deck:binned"
	ByTeam    = "team"
)

// name is what the list's rows in the tables begin with.
func (l List) name() string {
	if l.By == byBinned {
		return l.Folder + "." + l.By
	}
	return l.Folder
}

func (l List) of(c counts) int64 {
	if l.By == byBinned {
		return c.Trashed
	}
	return c.Active
}

// Block is how many decks are listed from a place on, up to the next block.
type Block struct {
	From  string `json:"f"`
	Count int64  `json:"c"`
}

// tail is the place that the list's tail begins with.
func (l List) tail(tx *storage.Tx) (from string, err error) {
	_, err = tx.Table(sealTable).Get(l.name(), &from)
	return from, err
}

// often reports whether a deck is the one in so many that has blocks made.
// The number of the deck decides, so no counter has to be written on every creation.
func often(key string) bool {
	n, err := strconv.ParseInt(key[strings.LastIndexByte(key, '/')+1:], 10, 64)
	return err == nil && n%SealEvery == 0
}

// reblock brings the blocks up to date after what a deck is listed by changed.
func reblock(tx *storage.Tx, by, was, is string) error {
	if was == is {
		return nil
	}
	tx = deck.AsSystem(tx)
	for value, n := range map[string]int64{was: -1, is: 1} {
		folder, key, ok := strings.Cut(value, "/")
		if !ok {
			continue
		}
		l := List{by, folder}
		from, err := l.tail(tx)
		switch {
		case err != nil:
			return err
		case key < from:
			if err := l.add(tx, key, n); err != nil {
				return err
			}
		case n > 0 && often(key):
			if err := l.seal(tx, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// add changes the count of the block that a deck is in, by its key in the list.
func (l List) add(tx *storage.Tx, deckKey string, n int64) error {
	table := tx.Table(BlockTable)
	// The zero byte makes the bound inclusive: the row may begin with this very deck.
	for key, raw := range table.Scan(l.name()+"/", l.name()+"/"+deckKey+"\x00", true, 1) {
		row, err := deck.ReadRow[[]Block](raw)
		if err != nil {
			return fault.Internal.Errorf("blocks of decks: %w", err)
		}
		for i := len(row) - 1; i >= 0; i-- {
			if row[i].From <= deckKey {
				row[i].Count += n
				return l.put(tx, key, row, i)
			}
		}
	}
	return fault.Internal.Errorf("deck at %s: is not in any block", deckKey)
}
