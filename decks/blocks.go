package decks

import (
	"strconv"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// The older decks of a folder are counted in blocks by number, so that a page far down its
// list is found without a walk over all before it. What a folder has since its last block is
// its tail.
const (
	blockTable = "deck-blocks" // folder "/" number that the first begins with: up to rowBlocks blocks
	sealTable  = "deck-seals"  // folder: number that the tail begins with
	blockSize  = 128           // decks of a block when it is made
	rowBlocks  = 64
	sealEvery  = 64 // one new deck in so many looks whether a block can be made
	maxSeals   = 16 // blocks made at once
)

// block is how many decks are listed from a number on, up to the next block.
type block struct {
	From  int64 `json:"f"`
	Count int64 `json:"c"`
}

// tailOf is the number that a folder's tail begins with.
func tailOf(tx *storage.Tx, folder string) (int64, error) {
	var from int64
	_, err := tx.Table(sealTable).Get(folder, &from)
	return from, err
}

// split is the folder and the number of a listing.
func split(listing string) (folder string, n int64) {
	folder, text, _ := strings.Cut(listing, "/")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", 0
	}
	return folder, n
}

// reblock brings the blocks up to date after a deck's listing changed.
func reblock(tx *storage.Tx, was, is string) error {
	if was == is {
		return nil
	}
	tx = asSystem(tx)
	for listing, by := range map[string]int64{was: -1, is: 1} {
		folder, n := split(listing)
		if folder == "" {
			continue
		}
		from, err := tailOf(tx, folder)
		switch {
		case err != nil:
			return err
		case n < from:
			if err := addToBlock(tx, folder, n, by); err != nil {
				return err
			}
		case by > 0 && n%sealEvery == 0:
			if err := makeBlocks(tx, folder, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// addToBlock changes the count of the block that a number is in.
func addToBlock(tx *storage.Tx, folder string, n, by int64) error {
	table := tx.Table(blockTable)
	for key, raw := range table.Scan(folder+"/", listed(folder, n+1), true, 1) {
		row, err := readRow[[]block](raw)
		if err != nil {
			return fault.Internal.Errorf("blocks of decks: %w", err)
		}
		for i := len(row) - 1; i >= 0; i-- {
			if row[i].From <= n {
				row[i].Count += by
				return table.Put(key, row)
			}
		}
	}
	return fault.Internal.Errorf("deck %d: is in no block", n)
}
