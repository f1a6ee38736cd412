// Package collection holds operations on collections, which are lists of documents independent of where the documents
// are. A collection knows its members in order, a member the collections it is in, which is what queries find members
// by. Who may write the collection decides what is in it; a member is not changed by being one: no version, date or
// audit record describes it. Favorites are a collection of each user's own.
//
// Membership is a list of collection ids in each member (collectionMember:collectionIds), which the index
// covers, and the order is a list in the collection. Both are written by the system in one transaction: the
// caller must be able to write the collection and to read the member, and needs no right to change it.
package collection

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/limit"
)

// Limits bound collections; zero values take the defaults.
type Limits struct {
	Members     int `setting:"limit-members" default:"10000" doc:"documents of one collection"`
	Collections int `setting:"limit-collections" default:"1000" doc:"collections that one document is in"`
}

// Ops are the operations on collections.
var Ops = []engine.Op{
	add,
	addFavorite,
	create,
	fetchFavorites,
	listFavorites,
	listMembers,
	listMine,
	moveMember,
	remove,
	removeFavorite,
	suggest,
}

const (
	members  = "collection:documentIds"
	memberOf = "collectionMember:collectionIds"
)

// open returns the collection a parameter names, which the caller must be allowed to change. The check
// is made here because the lists are written as the system, which storage does not stop (put).
func open(c *engine.Ctx, ref storage.Ref) (*storage.Doc, error) {
	d, err := engine.Named(c.Tx.Doc(ref))
	if err != nil {
		return nil, err
	}
	if !d.HasFacet("Collection") {
		return nil, fault.Invalid.Errorf("document %s: not a collection", d.Path()).In("collection")
	}
	if !c.Tx.Can(d, "WriteProperties") {
		return nil, fault.Denied.Errorf("Privilege 'WriteProperties' is not granted to '%s'", c.As.Name)
	}
	return d, nil
}

// ids reads a list of document ids.
func ids(d *storage.Doc, xpath string) []string {
	v, err := d.Get(xpath)
	if err != nil {
		return nil
	}
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	// What is not a text is passed over, so that one damaged item does not make the whole list
	// unreadable.
	for _, item := range list {
		if id, ok := item.(string); ok {
			out = append(out, id)
		}
	}
	return out
}

// put stores a list of document ids with the rights of the server and without a trace. Callers must have
// checked the right to change the collection. The document is read again as the system, so that unsaved
// changes of the caller's copy are not saved along with the list.
func put(c *engine.Ctx, d *storage.Doc, xpath string, list []string) error {
	system := c.Tx.As(c.Tx.Repo().System())
	fresh, err := system.Reload(d)
	if err != nil {
		return err
	}
	if xpath == memberOf && !fresh.HasFacet("CollectionMember") {
		if err := fresh.AddFacet("CollectionMember"); err != nil {
			return err
		}
	}
	if err := fresh.Set(xpath, engine.List(list)); err != nil {
		return err
	}
	_, err = system.Save(fresh, storage.SaveOptions{Quiet: true})
	return err
}

// join makes d a member of a collection. Both lists are checked and completed separately: one that lacks
// the entry, for example after an import, is repaired.
func join(c *engine.Ctx, d, collection *storage.Doc) (*storage.Doc, error) {
	if d.HasFacet("NotCollectionMember") || d.IsVersion() {
		return nil, fault.Invalid.Errorf("document %s: cannot be added to a collection", d.Path())
	}
	fresh, err := c.Tx.Reload(collection)
	if err != nil {
		return nil, err
	}
	list, of := ids(fresh, members), ids(d, memberOf)
	switch l := limit.Of[Limits](c.Tx.Repo().Bounds()); {
	case slices.Contains(list, d.ID()) && slices.Contains(of, collection.ID()):
		return d, nil
	case len(list) >= l.Members:
		return nil, fault.Limit.Errorf("collection %s: more than %d members", collection.Path(), l.Members)
	case len(of) >= l.Collections:
		return nil, fault.Limit.Errorf("document %s: in more than %d collections", d.Path(), l.Collections)
	}
	return change(c, d, fresh, "AddedToCollection", func() error {
		if !slices.Contains(list, d.ID()) {
			if err := put(c, fresh, members, append(list, d.ID())); err != nil {
				return err
			}
		}
		if slices.Contains(of, collection.ID()) {
			return nil
		}
		return put(c, d, memberOf, append(of, collection.ID()))
	})
}

// leave ends the membership of d. The document need not be one that may be in collections: what was put
// in before must be removable.
func leave(c *engine.Ctx, d, collection *storage.Doc) (*storage.Doc, error) {
	fresh, err := c.Tx.Reload(collection)
	if err != nil {
		return nil, err
	}
	list, of := ids(fresh, members), ids(d, memberOf)
	if !slices.Contains(list, d.ID()) && !slices.Contains(of, collection.ID()) {
		return d, nil
	}
	// The order of the two writes does not matter, since they are in one transaction.
	return change(c, d, fresh, "RemovedFromCollection", func() error {
		if err := put(c, fresh, members, without(list, d.ID())); err != nil {
			return err
		}
		return put(c, d, memberOf, without(of, collection.ID()))
	})
}

func without(list []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return x == id })
}

// change describes a change before and after it, and returns the document as it is then. The names of
// the events are the platform's; listeners may refuse the first.
func change(c *engine.Ctx, d, collection *storage.Doc, what string, fn func() error) (*storage.Doc, error) {
	extra := map[string]any{"collection": collection.ID()}
	if err := c.Tx.Fire(storage.Event{Name: "before" + what, Doc: d, Extra: extra}); err != nil {
		return nil, err
	}
	if err := fn(); err != nil {
		return nil, err
	}
	fresh, err := c.Tx.Reload(d)
	if err != nil {
		return nil, err
	}
	event := "addedToCollection"
	if what != "AddedToCollection" {
		event = "removedFromCollection"
	}
	return fresh, c.Tx.Fire(storage.Event{Name: event, Doc: fresh, Extra: extra})
}
