package storage

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"catena/storage/blob"
	"catena/storage/fault"
	"catena/storage/internal/layout"
	"catena/storage/schema"
)

// Ref names a document: an absolute path ("/a/b") or an id, either with the repository's
// name and a colon or "doc:" in front.
type Ref string

// Refs names several documents.
type Refs []Ref

// Props are property values by xpath.
type Props map[string]any

// Blob is a file's content with its name and type.
type Blob = blob.Blob

// Blobs is a list of files.
type Blobs []*Blob

// Docs is a list of documents.
type Docs []*Doc

// Doc is a document as read: system fields plus properties, which decode on first use. Setting
// changes memory only, until the document is saved. A Doc belongs to one goroutine.
type Doc struct {
	repo *catalog
	id   layout.ID
	node
	record
	up         *Folder // the parent; of a version, its live document; nil for the root
	parentPath string
	idText     string
	path       string
	saved      bool
	erased     bool   // by the transaction that the document belongs to
	facetsSet  bool   // facets differ from what is stored
	seen       uint64 // version of the snapshot it was read from, if that was only read from
}

// Held is about what the document takes in memory, in bytes.
func (d *Doc) Held() int64 {
	n := int64(unsafe.Sizeof(*d)) + int64(len(d.name)+len(d.path)+len(d.parentPath))
	for i := range d.blocks {
		b := &d.blocks[i]
		n += int64(unsafe.Sizeof(*b)) + int64(len(b.raw)+len(b.runs))
		if b.opened != nil { // values are decoded beside raw
			n += int64(len(b.raw)) + int64(len(b.vals))*int64(unsafe.Sizeof(value{}))
		}
	}
	return n
}

// ID returns the document's id, a UUID.
func (d *Doc) ID() string {
	if d.idText == "" {
		d.idText = d.id.String()
	}
	return d.idText
}

// Ref returns a reference that stays right when the document moves.
func (d *Doc) Ref() Ref { return Ref(d.ID()) }

// Name returns the last segment of the path, "" for the root.
func (d *Doc) Name() string { return d.name }

// Path returns where the document was when it was read: "/" for the root, the name alone for
// a version.
func (d *Doc) Path() string {
	if d.path == "" {
		d.path = joinPath(d.parentPath, d.name)
	}
	return d.path
}

func joinPath(parent, name string) string {
	switch {
	case parent == "/" || parent == "" && name == "":
		return "/" + name
	case parent == "":
		return name
	}
	return parent + "/" + name
}

// HasPath reports whether the document is somewhere: one that is not stored and was made for no folder is nowhere.
func (d *Doc) HasPath() bool { return d.id != layout.None || d.parent != layout.None }

// ParentID returns the id of the parent, "" for the root.
func (d *Doc) ParentID() string {
	if d.parent == layout.None || d.IsVersion() {
		return ""
	}
	return d.parent.String()
}

// AppendID appends the id as JSON.
func (d *Doc) AppendID(dst []byte) []byte { return append(d.id.Append(append(dst, '"')), '"') }

// AppendParentID appends ParentID as JSON, null if there is no parent.
func (d *Doc) AppendParentID(dst []byte) []byte {
	if d.parent == layout.None || d.IsVersion() {
		return append(dst, "null"...)
	}
	return append(d.parent.Append(append(dst, '"')), '"')
}

// Type returns the document's type.
func (d *Doc) Type() *schema.Type { return d.typ }

// Title returns dc:title, or the name if that is empty.
func (d *Doc) Title() string {
	if b, i := d.field("dc:title"); b != nil {
		if v, err := b.get(d.repo, i); err == nil {
			if s, ok := v.(string); ok && s != "" {
				return s
			}
		}
	}
	return d.name
}

// State returns the state in the document's life cycle.
func (d *Doc) State() string { return d.state }

// Facets returns the facets of the type and of the document itself.
func (d *Doc) Facets() []string {
	return append(slices.Clone(d.typ.Facets), d.facets...)
}

// OwnFacets returns the facets of the document itself, besides those of its type.
func (d *Doc) OwnFacets() []string { return slices.Clone(d.facets) }

// HasFacet reports whether the type or the document itself has the facet.
func (d *Doc) HasFacet(name string) bool {
	return d.typ.HasFacet(name) || slices.Contains(d.facets, name)
}

// Schemas returns the schemas of the type and of the document's own facets.
func (d *Doc) Schemas() []*schema.Schema { return d.repo.types.SchemasOf(d.typ, d.facets) }

// Repository returns the name of the repository the document is in.
func (d *Doc) Repository() string { return d.repo.name }

// ChangeToken returns "{system}-{user}": the second number counts what people changed.
func (d *Doc) ChangeToken() string {
	var b [40]byte
	return string(d.AppendChangeToken(b[:0]))
}

// AppendChangeToken appends ChangeToken.
func (d *Doc) AppendChangeToken(dst []byte) []byte {
	return strconv.AppendUint(append(strconv.AppendUint(dst, d.system, 10), '-'), d.user, 10)
}

// VersionLabel returns "major.minor", with a plus if the document changed since; "" for one that
// has neither versions nor properties for their numbers.
func (d *Doc) VersionLabel() string {
	if b, _ := d.field("uid:major_version"); b == nil && d.major == 0 && d.minor == 0 {
		return ""
	}
	label := strconv.FormatInt(d.major, 10) + "." + strconv.FormatInt(d.minor, 10)
	if !d.checkedIn && (d.major != 0 || d.minor != 0) && !d.IsVersion() {
		label += "+"
	}
	return label
}

// IsFolder reports whether the document is meant to have children.
func (d *Doc) IsFolder() bool { return d.flags&layout.Folder != 0 }

// IsVersion reports whether the document is an archived state of another.
func (d *Doc) IsVersion() bool { return d.flags&layout.Version != 0 }

// IsProxy reports whether the document stands for another.
func (d *Doc) IsProxy() bool { return d.flags&layout.Proxy != 0 }

// IsTrashed reports whether the document is in the trash.
func (d *Doc) IsTrashed() bool { return d.flags&layout.Trashed != 0 }

// IsCheckedOut reports whether a live document may differ from its last version.
func (d *Doc) IsCheckedOut() bool { return !d.checkedIn && !d.IsVersion() }

// Locked returns who locked the document and since when; ok is false if nobody did.
func (d *Doc) Locked() (owner string, since time.Time, ok bool) {
	return d.lockOwner, d.lockSince, d.lockOwner != ""
}

// ordered reports whether the document has a place in the order of its siblings.
func (d *Doc) ordered() bool { return !d.IsVersion() && d.up != nil && d.up.flags&layout.Ordered != 0 }

// Position orders the document among its siblings.
func (d *Doc) Position() int64 { return d.position }

// Saved reports whether the document exists in the repository.
func (d *Doc) Saved() bool { return d.saved }

// Dirty reports whether something was set that is not saved.
func (d *Doc) Dirty() bool {
	if d.facetsSet {
		return true
	}
	for i := range d.blocks {
		if d.blocks[i].dirty() {
			return true
		}
	}
	return false
}

// AddFacet gives the document a facet, and the schemas that come with it.
func (d *Doc) AddFacet(name string) error {
	if _, ok := d.repo.types.Facet(name); !ok {
		return fault.Invalid.Errorf("facet %s: does not exist%s", name, fault.Perhaps(name, d.repo.types.FacetNames())).In("facet")
	}
	if !d.HasFacet(name) {
		d.setFacets(append(slices.Clone(d.facets), name))
	}
	return nil
}

// RemoveFacet takes a facet of the document itself away, with the properties it brought.
func (d *Doc) RemoveFacet(name string) error {
	if i := slices.Index(d.facets, name); i >= 0 {
		d.setFacets(slices.Delete(slices.Clone(d.facets), i, i+1))
	}
	return nil
}

// setFacets replaces the document's own facets and arranges its blocks accordingly.
func (d *Doc) setFacets(facets []string) {
	d.facets, d.facetsSet = facets, true
	old := d.blocks
	d.blocks = d.repo.emptyBlocks(d.typ, facets)
	for i := range d.blocks {
		for j := range old {
			if old[j].shape == d.blocks[i].shape {
				d.blocks[i] = old[j]
			}
		}
	}
	d.flags = d.flags&^layout.FacetFlags | d.facetFlags()
}

func (d *Doc) facetFlags() (flags byte) {
	if d.HasFacet("Folderish") {
		flags |= layout.Folder
	}
	if d.HasFacet("HiddenInNavigation") {
		flags |= layout.Hidden
	}
	if d.HasFacet(orderable) {
		flags |= layout.Ordered
	}
	return flags
}

// clone is a copy whose properties and system fields change apart from d's.
func (d *Doc) clone() *Doc {
	c := *d
	c.blocks = make([]block, len(d.blocks))
	for i := range d.blocks {
		c.blocks[i] = d.blocks[i].clone()
	}
	return &c
}

// parseRef splits a reference into a path or an id. Anything else is neither.
func (r *Repo) parseRef(ref Ref) (path string, id layout.ID, ok bool) {
	s := string(ref)
	if rest, cut := strings.CutPrefix(s, "doc:"); cut {
		s = rest
	} else if rest, cut := strings.CutPrefix(s, r.name+":"); cut {
		s = rest
	}
	if strings.HasPrefix(s, "/") {
		return s, layout.None, true
	}
	id, ok = layout.ParseID(s)
	return "", id, ok
}

// InClass reports whether the document is of a class, by its word; one that is unknown, or empty, is any. A document link is a
// proxy to a live document, a published one a proxy to a version.
func (d *Doc) InClass(class string) bool {
	fixed := d.IsImmutable()
	switch strings.TrimSpace(class) {
	case "Regular Document":
		return !d.IsVersion() && !d.IsProxy()
	case "Document Link":
		return d.IsProxy() && !fixed
	case "Published Document":
		return d.IsProxy() && fixed
	case "Document Proxy":
		return d.IsProxy()
	case "Document Version":
		return d.IsVersion()
	case "Immutable Document":
		return fixed
	case "Mutable Document":
		return !fixed
	}
	return true
}
