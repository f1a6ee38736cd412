// Package typecheck finds the documents that stand against a change of the declarations of types: those of a type that would
// be gone, or with a value of a field that would be gone or of another kind.
package typecheck

import (
	"iter"
	"slices"

	"catena/storage"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
	"catena/storage/schema"
)

// batch is how many documents are read at once.
const batch = 200

// Obstacle is a loss that a document would suffer.
type Obstacle struct {
	schema.Loss
	Doc *storage.Doc // one of those
}

// Check returns the losses that documents of a repository would suffer from other declarations. It reads each document that may
// be concerned, and is refused if those are more than the limit of rows.
func Check(t *storage.Tx, next *schema.Registry) (found []Obstacle, err error) {
	c := checker{in: t.Internal(row.Ordered{}), left: t.Repo().Limits().ScanRows}
	for _, l := range schema.Losses(storage.TypesOf(t), next) {
		d, err := c.suffers(l)
		if err != nil {
			return nil, err
		}
		if d != nil {
			found = append(found, Obstacle{l, d})
		}
	}
	return found, nil
}

// Rebuild has the indexes of all repositories of the store written again that other declarations would make others of. It is
// called in the transaction that deploys these.
func Rebuild(t *storage.Tx, next *schema.Registry) error {
	repo := t.Repo()
	for _, name := range repo.Names() {
		other := repo.Sibling(name)
		if other == nil || other == repo {
			continue
		}
		err := other.Update(t.Context(), other.System(), func(t *storage.Tx) error { return t.Internal(row.Ordered{}).Rebuild(next) })
		if err != nil {
			return err
		}
	}
	return t.Internal(row.Ordered{}).Rebuild(next)
}

type checker struct {
	in   storage.Internal
	left int // documents that may still be read
}

// suffers returns a document that a loss concerns, nil if there is none.
func (c *checker) suffers(l schema.Loss) (*storage.Doc, error) {
	var places [][]byte
	for _, name := range l.Types {
		places = append(places, c.in.Dictionary().TypePrefix(name))
	}
	if l.Facet != "" {
		places = append(places, kv.AppendString(c.in.Dictionary().IndexPrefix(layout.FacetIndex), l.Facet))
	}
	for _, at := range places {
		for docs, err := range c.documents(at) {
			if err != nil {
				return nil, err
			}
			for _, d := range docs {
				if hit, err := concerns(l, d); hit || err != nil {
					return d, err
				}
			}
		}
	}
	return nil, nil
}

// documents are those of the rows below a prefix, some at a time.
func (c *checker) documents(at []byte) iter.Seq2[storage.Docs, error] {
	return func(yield func(storage.Docs, error) bool) {
		rows := kv.Prefix(at)
		rows.KeysOnly, rows.Limit = true, batch
		for {
			var ids []layout.ID
			for r, err := range c.in.KV().Scan(rows) {
				if err != nil {
					yield(nil, err)
					return
				}
				ids = append(ids, layout.IDAtEnd(r.Key))
				rows.Start = append(slices.Clone(r.Key), 0)
			}
			if c.left -= len(ids); c.left < 0 {
				yield(nil, fault.Limit.Errorf("types of documents: more documents may be concerned than limit-rows allows to read"))
				return
			}
			docs, err := c.in.Readable(ids)
			if !yield(docs, err) || err != nil || len(ids) < batch {
				return
			}
		}
	}
}

// concerns reports whether a document suffers a loss.
func concerns(l schema.Loss, d *storage.Doc) (bool, error) {
	if l.State != "" && d.State() != l.State {
		return false, nil
	}
	if l.Field == nil {
		return true, nil
	}
	v, err := d.Get(l.Field.Key)
	return holds(v, l.Steps), err
}

// holds reports whether a value has something at the end of steps into it.
func holds(v any, steps []string) bool {
	switch x := v.(type) {
	case nil:
		return false
	case []any:
		return slices.ContainsFunc(x, func(v any) bool { return holds(v, steps) })
	case map[string]any:
		if len(steps) > 0 {
			return holds(x[steps[0]], steps[1:])
		}
	}
	return len(steps) == 0
}
