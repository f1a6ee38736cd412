package storage

import (
	"slices"

	"catena/storage/internal/layout"
	"catena/storage/internal/row"
	"catena/storage/kv"
)

// Internal is what packages below storage may do in a transaction besides what everybody may: they lay out rows
// of their own and decide themselves who sees what of them.
type Internal struct{ t *Tx }

// Internal opens a transaction to the packages below storage, which alone can make the key.
func (t *Tx) Internal(row.Ordered) Internal { return Internal{t} }

// KV returns the ordered rows themselves.
func (i Internal) KV() *kv.Tx { return i.t.kv }

// ID returns the identifier of a document as rows hold it.
func (i Internal) ID(d *Doc) layout.ID { return d.id }

// Fire records an event and tells listeners, whatever the principal may.
func (i Internal) Fire(e Event) error { return i.t.fire(e) }

// Need returns an error unless the principal has the permission on a document as it was read.
func (i Internal) Need(d *Doc, permission string) error {
	return i.t.need(d, 1<<slices.Index(permissionNames, permission))
}

// Has reports whether the principal has the permission on a document as it was read.
func (i Internal) Has(d *Doc, permission string) bool {
	return i.t.can(d, 1<<slices.Index(permissionNames, permission))
}

// Load returns a document, whoever may see it; nil if there is none.
func (i Internal) Load(id layout.ID) (*Doc, error) { return i.t.load(id) }

// Visible returns a document, which is NotFound unless it may be read.
func (i Internal) Visible(id layout.ID) (*Doc, error) { return i.t.visible(id, Ref(id.String())) }

// Readable returns those documents that are there and may be read.
func (i Internal) Readable(ids []layout.ID) (Docs, error) {
	docs, err := i.t.loadMany(ids)
	if err != nil {
		return nil, err
	}
	return i.t.readable(docs), nil
}

// EachFile calls fn with every file among the properties of a document and its xpath.
func (i Internal) EachFile(d *Doc, fn func(xpath string, b *Blob) error) error { return d.eachFile(fn) }
