// Package tag holds operations on tags, words that anyone who may read a document can put on it. They are a property
// of the document, found by ecm:tag in queries, and no change of it: no version, date or audit record describes them.
// The words in use are kept in a table besides, so that suggestions cost what they show.
//
// Tags are stored by the system: anyone who may read a document may tag it, without the right to change it. A tag has the name
// of who put it, which clients show, and a row beside the document knows which user of that name it was: a later one has no right to it.
package tag

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

// Ops are the operations on tags.
var Ops = []engine.Op{
	put,
	remove,
	removeAll,
	suggest,
}

const (
	tags    = "nxtag:tags"
	facet   = "NXTag"
	words   = "tags"       // table of the words in use
	owners  = "tag owners" // table of who put each tag, by document and tag
	maxTags = 500          // on a document
	maxWord = 200          // bytes
)

// strip takes out what a tag does not hold. The characters are those that the platform removes. % and '
// would have a meaning in its queries.
var strip = strings.NewReplacer(" ", "", "/", "", `\`, "", "'", "", "%", "")

// clean returns the words as they are stored, without blanks and repetitions.
func clean(list []string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, word := range list {
		word = strip.Replace(strings.ToLower(strings.TrimSpace(word)))
		if word == "" || seen[word] {
			continue
		}
		if len(word) > maxWord {
			return nil, fault.Limit.Errorf("tag: %d bytes, limit %d", len(word), maxWord).In("tags")
		}
		seen[word] = true
		out = append(out, word)
	}
	return out, nil
}

// item is a tag with who put it.
type item struct{ label, user string }

func read(d *storage.Doc) ([]item, error) {
	v, err := d.Get(tags)
	if err != nil {
		return nil, err
	}
	list, _ := v.([]any)
	out := make([]item, 0, len(list))
	for _, v := range list {
		m, _ := v.(map[string]any)
		label, _ := m["label"].(string)
		user, _ := m["username"].(string)
		out = append(out, item{label, user})
	}
	return out, nil
}

// write stores the tags with the rights of the server and without a trace. Callers check who may do so.
// The document is read again as the system, so that unsaved changes of the caller's copy are not saved
// along with the tags; the result is the document as it then is, without them.
func write(c *engine.Ctx, d *storage.Doc, items []item) (*storage.Doc, error) {
	list := make([]any, len(items))
	for i, it := range items {
		list[i] = map[string]any{"label": it.label, "username": it.user}
	}
	system := c.Tx.As(c.Tx.Repo().System())
	fresh, err := system.Reload(d)
	if err != nil {
		return nil, err
	}
	if err := fresh.Set(tags, list); err != nil {
		return nil, err
	}
	if _, err := system.Save(fresh, storage.SaveOptions{Quiet: true}); err != nil {
		return nil, err
	}
	return c.Tx.Reload(d)
}

// Owner forgets who put the tags of documents that are erased.
var Owner = storage.Owner{Name: "tags", Erase: erase}

func ownerKey(d *storage.Doc, label string) string { return d.ID() + "/" + label }

// isOf reports whether a tag was put by a principal. Tags that were put before there were rows of who did, and those that came
// with a copy of a document, have only the name, which counts for who had it first.
func isOf(c *engine.Ctx, d *storage.Doc, it item) (bool, error) {
	if it.user != c.As.Name {
		return false, nil
	}
	var by storage.Owned
	known, err := c.Tx.Table(owners).Get(ownerKey(d, it.label), &by)
	if err != nil || !known {
		return err == nil && !c.As.HasPredecessor(), err
	}
	return by.Is(c.As), nil
}

// erase removes the rows of the tags of a document.
func erase(tx *storage.Tx, d *storage.Doc) error {
	if !d.HasFacet(facet) {
		return nil
	}
	items, err := read(d)
	if err != nil {
		return err
	}
	for _, it := range items {
		if err := tx.Table(owners).Delete(ownerKey(d, it.label)); err != nil {
			return err
		}
	}
	return nil
}

// canHold reports whether a document has a place for tags.
func canHold(c *engine.Ctx, d *storage.Doc) bool {
	if d.HasFacet(facet) {
		return true
	}
	c.Log.Warn("documents of this type cannot have tags", "type", d.Type().Name, "id", d.ID())
	return false
}
