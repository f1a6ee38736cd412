package listing

import (
	"hash/fnv"
	"strconv"

	"catena/decks/deck"
	"catena/storage"
	"catena/storage/fault"
)

// The decks of each folder and of each team's list are counted in several rows, so that decks
// made at the same time seldom wait for each other.
const (
	countTable  = "deck-counts" // folder "/" shard: counts
	countShards = 16
)

// counts are how many decks a folder has.
type counts struct{ Active, Trashed int64 }

// count adds to how many decks folders have, on account of a deck.
func count(tx *storage.Tx, d *storage.Doc, changes map[string]counts) error {
	// A deck always counts in the shard of its id, so taking it out meets the row that it was added to.
	h := fnv.New32a()
	h.Write([]byte(d.ID()))
	shard := "/" + strconv.Itoa(int(h.Sum32()%countShards))
	table := deck.AsSystem(tx).Table(countTable)
	for folder, by := range changes {
		if by == (counts{}) {
			continue
		}
		var c counts
		if _, err := table.Get(folder+shard, &c); err != nil {
			return err
		}
		c.Active, c.Trashed = c.Active+by.Active, c.Trashed+by.Trashed
		if err := table.Put(folder+shard, c); err != nil {
			return err
		}
	}
	return nil
}

// counted returns how many decks a folder has.
func counted(tx *storage.Tx, folder string) (sum counts, err error) {
	for _, raw := range tx.Table(countTable).Scan(folder+"/", folder+"0", false, countShards) {
		c, err := deck.ReadRow[counts](raw)
		if err != nil {
			return sum, fault.Internal.Errorf("count of decks: %w", err)
		}
		sum.Active, sum.Trashed = sum.Active+c.Active, sum.Trashed+c.Trashed
	}
	return sum, nil
}
