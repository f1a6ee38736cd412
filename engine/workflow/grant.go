package workflow

import (
	"slices"
	"strings"

	"catena/storage"
	"catena/storage/fault"
)

// Grant lets some people, those whom the open tasks of a node wait for, do with the documents what the node grants, and
// nobody else any longer. The transaction is the server's.
func (i *Instance) Grant(tx *storage.Tx, n *Node, people []string) error {
	if n == nil || n.Task == nil || n.Task.Grants.Text == "" {
		return nil
	}
	mark := i.ID() + "/" + n.ID
	var entries []storage.ACE
	for _, e := range readers(people) {
		e.Permission, e.Creator, e.Comment = n.Task.Grants.Text, i.Initiator, mark
		entries = append(entries, e)
	}
	return grant(tx, i.Documents, entries, func(comment string) bool { return comment == mark })
}

// revoke takes back what tasks of an instance granted.
func revoke(tx *storage.Tx, instance string, docs []string) error {
	return grant(tx, docs, nil, func(comment string) bool { return strings.HasPrefix(comment, instance+"/") })
}

// grant replaces entries of documents that were made for tasks, those with some comments. Documents that are gone,
// and versions, which have no entries of their own, are left out.
func grant(tx *storage.Tx, docs []string, entries []storage.ACE, old func(comment string) bool) error {
	for _, id := range docs {
		d, err := tx.Doc(storage.Ref(id))
		if fault.Is(err, fault.NotFound) || err == nil && d.IsVersion() {
			continue
		}
		if err != nil {
			return err
		}
		have, err := listOf(tx, d, storage.RoutingList)
		if err != nil {
			return err
		}
		others := slices.DeleteFunc(have, func(e storage.ACE) bool { return old(e.Comment) })
		if _, err := tx.SetACL(d, storage.RoutingList, append(others, entries...)); err != nil {
			return err
		}
	}
	return nil
}

// listOf is one of the access lists of a document itself.
func listOf(tx *storage.Tx, d *storage.Doc, name string) ([]storage.ACE, error) {
	lists, err := tx.ACLs(d)
	if err != nil {
		return nil, err
	}
	for _, l := range lists {
		if l.Name == name {
			return l.Entries, nil
		}
	}
	return nil, nil
}
