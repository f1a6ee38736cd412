package deck

import (
	"cmp"

	"catena/engine"
	"catena/storage"
)

// AsSystem is the transaction of the server, acting for the caller.
func AsSystem(tx *storage.Tx) *storage.Tx {
	system := tx.Repo().System()
	system.Actor = cmp.Or(tx.Principal().Actor, tx.Principal().Name)
	return tx.As(system)
}

// Behind is the server acting for the caller: a link grants what no access list does.
func Behind(c *engine.Ctx) *storage.Principal {
	system := c.Tx.Repo().System()
	system.Actor = c.As.Name
	return system
}

// Keep saves what the service itself notes on a deck.
func Keep(tx *storage.Tx, d *storage.Doc) error {
	_, err := AsSystem(tx).Save(d, storage.SaveOptions{Quiet: true})
	return err
}

// Category is that of all operations on decks.
const Category = "Decks"

// Homes is the folder that contains the users' folders of decks.
const Homes = "decks"
