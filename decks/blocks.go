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
	blockTable = "deck-blocks" // folder "/" number that the block begins with: block
	sealTable  = "deck-seals"  // folder: number that the tail begins with
	blockSize  = 128           // decks of a block when it is made
	sealEvery  = 64            // one new deck in so many looks whether a block can be made
	maxSeals   = 16            // blocks made at once
)

type block struct{ Count int64 }

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
		b, err := readRow[block](raw)
		if err != nil {
			return fault.Internal.Errorf("block of decks: %w", err)
		}
		b.Count += by
		return table.Put(key, b)
	}
	return fault.Internal.Errorf("deck %d: is in no block", n)
}

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
		tail -= b.count
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
		if err := tx.Table(blockTable).Put(listed(folder, from), block{blockSize}); err != nil {
			return err
		}
		if err := tx.Table(sealTable).Put(folder, next); err != nil {
			return err
		}
		from, tail = next, tail-blockSize
	}
	return nil
}
