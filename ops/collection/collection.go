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
	"strings"

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

// put stores a list of document ids without a trace. Callers must have checked the right to change the collection, and read the document as
// the server in this transaction: it may hold neither unsaved changes of the caller nor an older list.
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

// join makes documents members of a collection, and returns them as they are then.
func join(c *engine.Ctx, docs storage.Docs, collection *storage.Doc) (storage.Docs, error) {
	return (&change{c: c, collection: collection, join: true}).of(docs)
}

// leave ends the membership of documents. They need not be some that may be in collections: what was put in before must be removable.
func leave(c *engine.Ctx, docs storage.Docs, collection *storage.Doc) (storage.Docs, error) {
	return (&change{c: c, collection: collection}).of(docs)
}

// one runs for one document what is made for several.
func one(run func(*engine.Ctx, storage.Docs) (storage.Docs, error), c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	docs, err := run(c, storage.Docs{d})
	if err != nil {
		return nil, err
	}
	return docs[0], nil
}

// change has documents join or leave a collection. Each is described by an event before it and one after it, whose names are the platform's;
// listeners may refuse the first. The list of the collection may be long, and is written once.
type change struct {
	c          *engine.Ctx
	collection *storage.Doc
	join       bool
	in         map[string]bool         // the members
	size       int                     // how many these are
	changed    map[string]*storage.Doc // as they are after the change, by id
}

func (x *change) of(docs storage.Docs) (storage.Docs, error) {
	list, err := x.list()
	if err != nil {
		return nil, err
	}
	x.in, x.changed = map[string]bool{}, map[string]*storage.Doc{}
	for _, id := range ids(list, members) {
		x.in[id] = true
	}
	x.size = len(x.in)
	for _, d := range docs {
		if err := x.member(d); err != nil {
			return nil, err
		}
	}
	if len(x.changed) == 0 {
		return docs, nil
	}
	if err := x.rewrite(docs); err != nil {
		return nil, err
	}
	return x.tell(docs)
}

// list reads the collection.
func (x *change) list() (*storage.Doc, error) { return server(x.c).Reload(x.collection) }

// member changes the list of a member. Both lists are checked and completed separately: one that lacks the entry, for example after an
// import, is repaired.
func (x *change) member(d *storage.Doc) error {
	fresh, err := server(x.c).Reload(d)
	if err != nil {
		return err
	}
	of, own := ids(fresh, memberOf), x.collection.ID()
	listed := slices.Contains(of, own)
	if err := x.may(fresh, listed, len(of)); err != nil {
		return err
	}
	if x.in[d.ID()] == x.join && listed == x.join {
		return nil
	}
	if err := x.fire("before", d); err != nil {
		return err
	}
	if x.join && !x.in[d.ID()] {
		x.size++
	}
	x.changed[d.ID()], x.in[d.ID()] = nil, x.join
	if fresh, err = server(x.c).Reload(d); err != nil { // a listener may have changed it
		return err
	}
	of = slices.DeleteFunc(ids(fresh, memberOf), func(id string) bool { return id == own })
	if x.join {
		of = append(of, own)
	}
	return put(x.c, fresh, memberOf, of)
}

// may reports whether a document may become a member, which is in n collections.
func (x *change) may(d *storage.Doc, listed bool, n int) error {
	l := limit.Of[Limits](x.c.Tx.Repo().Bounds())
	switch {
	case !x.join:
	case d.HasFacet("NotCollectionMember") || d.IsVersion():
		return fault.Invalid.Errorf("document %s: cannot be added to a collection", d.Path())
	case x.in[d.ID()] && listed:
	case x.size >= l.Members:
		return fault.Limit.Errorf("collection %s: more than %d members", x.collection.Path(), l.Members)
	case n >= l.Collections:
		return fault.Limit.Errorf("document %s: in more than %d collections", d.Path(), l.Collections)
	}
	return nil
}

// rewrite writes the list of the collection, which listeners may have changed since it was read.
func (x *change) rewrite(docs storage.Docs) error {
	fresh, err := x.list()
	if err != nil {
		return err
	}
	list, was := []string{}, ids(fresh, members)
	listed := make(map[string]bool, len(was))
	for _, id := range was {
		if _, changed := x.changed[id]; x.join || !changed {
			listed[id], list = true, append(list, id)
		}
	}
	for _, d := range docs {
		if _, changed := x.changed[d.ID()]; x.join && changed && !listed[d.ID()] {
			listed[d.ID()], list = true, append(list, d.ID())
		}
	}
	if len(list) == len(was) {
		return nil
	}
	return put(x.c, fresh, members, list)
}

// tell fires the events after the change, and returns the documents as they are then.
func (x *change) tell(docs storage.Docs) (storage.Docs, error) {
	out := slices.Clone(docs)
	for i, d := range docs {
		fresh, changed := x.changed[d.ID()]
		if !changed {
			continue
		}
		if fresh == nil { // and not a second time in the input
			var err error
			if fresh, err = x.c.Tx.Reload(d); err != nil {
				return nil, err
			}
			x.changed[d.ID()] = fresh
			if err := x.fire("", fresh); err != nil {
				return nil, err
			}
		}
		out[i] = fresh
	}
	return out, nil
}

func (x *change) fire(when string, d *storage.Doc) error {
	name := "removedFromCollection"
	if x.join {
		name = "addedToCollection"
	}
	if when != "" {
		name = when + strings.ToUpper(name[:1]) + name[1:]
	}
	return x.c.Tx.Fire(storage.Event{Name: name, Doc: d, Extra: map[string]any{"collection": x.collection.ID()}})
}
