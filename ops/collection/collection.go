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

// put stores a list of document ids with the rights of the server and without a trace. Callers must have checked the right to change the
// collection, and just read the document: it may hold neither unsaved changes of the caller nor an older list.
func put(c *engine.Ctx, d *storage.Doc, xpath string, list []string) error {
	if xpath == memberOf && !d.HasFacet("CollectionMember") {
		if err := d.AddFacet("CollectionMember"); err != nil {
			return err
		}
	}
	if err := d.Set(xpath, engine.List(list)); err != nil {
		return err
	}
	_, err := server(c).Save(d, storage.SaveOptions{Quiet: true})
	return err
}

// server is the transaction with the rights of the server.
func server(c *engine.Ctx) *storage.Tx { return c.Tx.As(c.Tx.Repo().System()) }

// several makes an operation of a function over documents, which takes a single one as well.
func several[P any](f func(P, *engine.Ctx, storage.Docs) (storage.Docs, error)) engine.Func {
	one := func(p P, c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
		docs, err := f(p, c, storage.Docs{d})
		if err != nil {
			return nil, err
		}
		return docs[0], nil
	}
	return engine.Overload(engine.On(one), engine.On(f))
}

// join makes documents members of a collection that was just read, and returns them as they are then.
func join(c *engine.Ctx, docs storage.Docs, collection *storage.Doc) (storage.Docs, error) {
	x := change{c: c, collection: collection, join: true, before: "beforeAddedToCollection", after: "addedToCollection"}
	return x.of(docs)
}

// leave ends the membership of documents. They need not be some that may be in collections: what was put in before must be removable.
func leave(c *engine.Ctx, docs storage.Docs, collection *storage.Doc) (storage.Docs, error) {
	x := change{c: c, collection: collection, before: "beforeRemovedFromCollection", after: "removedFromCollection"}
	return x.of(docs)
}

// change has documents join or leave a collection. The list of the collection may be long, and is written once.
type change struct {
	c             *engine.Ctx
	collection    *storage.Doc
	join          bool
	before, after string          // events of each document, named as on the platform; listeners may refuse the first
	in            map[string]bool // the members
	changed       storage.Docs
}

func (x *change) of(docs storage.Docs) (storage.Docs, error) {
	x.in = set(ids(x.collection, members))
	for _, d := range docs {
		if err := x.member(d); err != nil {
			return nil, err
		}
	}
	if len(x.changed) == 0 {
		return docs, nil
	}
	if err := x.list(); err != nil {
		return nil, err
	}
	now := map[string]*storage.Doc{}
	for _, d := range x.changed {
		fresh, err := x.c.Tx.Reload(d)
		if err != nil {
			return nil, err
		}
		if err := x.fire(x.after, fresh); err != nil {
			return nil, err
		}
		now[d.ID()] = fresh
	}
	out := slices.Clone(docs)
	for i, d := range docs {
		if fresh := now[d.ID()]; fresh != nil {
			out[i] = fresh
		}
	}
	return out, nil
}

func set(ids []string) map[string]bool {
	in := make(map[string]bool, len(ids))
	for _, id := range ids {
		in[id] = true
	}
	return in
}

// member changes the list of a document. Both lists are checked and completed separately: one that lacks the entry, for example after an
// import, is repaired.
func (x *change) member(d *storage.Doc) error {
	fresh, err := server(x.c).Reload(d)
	if err != nil {
		return err
	}
	if x.join && (fresh.HasFacet("NotCollectionMember") || fresh.IsVersion()) {
		return fault.Invalid.Errorf("document %s: cannot be added to a collection", d.Path())
	}
	of, own := ids(fresh, memberOf), x.collection.ID()
	listed := slices.Contains(of, own)
	if x.in[d.ID()] == x.join && listed == x.join {
		return nil
	}
	if err := x.room(d, len(of)); err != nil {
		return err
	}
	if err := x.fire(x.before, d); err != nil {
		return err
	}
	x.changed = append(x.changed, d)
	if delete(x.in, d.ID()); x.join {
		x.in[d.ID()] = true
	}
	if listed == x.join {
		return nil
	}
	if fresh, err = server(x.c).Reload(d); err != nil { // a listener may have changed it
		return err
	}
	of = slices.DeleteFunc(ids(fresh, memberOf), func(id string) bool { return id == own })
	if x.join {
		of = append(of, own)
	}
	return put(x.c, fresh, memberOf, of)
}

// room refuses to have a document join, which is in n collections, beyond the limits.
func (x *change) room(d *storage.Doc, n int) error {
	switch l := limit.Of[Limits](x.c.Tx.Repo().Bounds()); {
	case !x.join:
	case len(x.in) >= l.Members:
		return fault.Limit.Errorf("collection %s: more than %d members", x.collection.Path(), l.Members)
	case n >= l.Collections:
		return fault.Limit.Errorf("document %s: in more than %d collections", d.Path(), l.Collections)
	}
	return nil
}

// list changes the list of the collection, which listeners may have changed since it was read.
func (x *change) list() error {
	fresh, err := server(x.c).Reload(x.collection)
	if err != nil {
		return err
	}
	list := ids(fresh, members)
	was, listed := len(list), set(list)
	for _, d := range x.changed {
		if x.join && !listed[d.ID()] {
			list = append(list, d.ID())
		}
		listed[d.ID()] = x.join
	}
	if !x.join {
		list = slices.DeleteFunc(list, func(id string) bool { return !listed[id] })
	}
	if len(list) == was {
		return nil
	}
	return put(x.c, fresh, members, list)
}

func (x *change) fire(name string, d *storage.Doc) error {
	return x.c.Tx.Fire(storage.Event{Name: name, Doc: d, Extra: map[string]any{"collection": x.collection.ID()}})
}
