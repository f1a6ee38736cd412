package storage

import (
	"catena/storage/fault"
	"catena/storage/internal/layout"

	"github.com/google/uuid"
)

// NewDoc returns a document that does not exist, with default values.
func (t *Tx) NewDoc(typeName string) (*Doc, error) {
	typ, ok := t.repo.types.Type(typeName)
	if !ok {
		return nil, fault.Invalid.Errorf("Type: %s does not exist%s", typeName, fault.Perhaps(typeName, t.repo.types.TypeNames())).In("type")
	}
	d := &Doc{repo: t.repo}
	d.typ = typ
	if typ.LifeCycle != nil {
		d.state = typ.LifeCycle.Initial
	}
	d.blocks = t.repo.emptyBlocks(typ, nil)
	// Defaults are set like values of the caller, so they are stored: a later change of the declaration does
	// not change documents that exist.
	for i := range d.blocks {
		b := &d.blocks[i]
		for j, f := range b.shape.Fields {
			if f.Default != nil {
				b.set(j, f.Default)
			}
		}
	}
	d.flags = d.facetFlags()
	return d, nil
}

// target returns a document that gets a new child, guarded like one that is edited.
func (t *Tx) target(parent *Doc) (*Folder, error) {
	if err := t.MayWrite(); err != nil {
		return nil, err
	}
	if parent == nil || !parent.saved {
		return nil, fault.Invalid.Errorf("parent: does not exist yet")
	}
	f, err := t.folder(parent.id)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, notFound(parent.Ref())
	}
	if !t.granted(f.acl, f.up, permAddChildren) {
		return nil, fault.Denied.Errorf("Privilege '%s' is not granted to '%s'", permAddChildren, t.as.Name)
	}
	// A version never changes, and a proxy shows the children of nobody: what is below would not be found
	// from either.
	if f.flags&(layout.Version|layout.Proxy) != 0 {
		return nil, fault.Conflict.Errorf("document %s: a version or proxy cannot have children", parent.ID())
	}
	// The depth bounds what every permission check and every move has to walk.
	if f.depth >= t.repo.limits.PathDepth {
		return nil, fault.Limit.Errorf("document %s: %d levels deep, limit %d", parent.ID(), f.depth+1, t.repo.limits.PathDepth)
	}
	return f, nil
}

// Create makes a document below parent and returns it. An empty name becomes Untitled, a name that is
// taken gets a suffix.
func (t *Tx) Create(parent *Doc, typeName, name string, p Props) (*Doc, error) {
	up, err := t.target(parent)
	if err != nil {
		return nil, err
	}
	d, err := t.NewDoc(typeName)
	if err != nil {
		return nil, err
	}
	if err := d.setAll(p); err != nil {
		return nil, err
	}
	return d, t.add(d, up, name, SaveOptions{})
}

// Add creates a document that NewDoc has returned below parent, with the properties set on it meanwhile. It
// is named as Create does; the options are what the audit record says and what is done about versions.
func (t *Tx) Add(parent, d *Doc, name string, o SaveOptions) error {
	up, err := t.target(parent)
	if err != nil {
		return err
	}
	if d.saved {
		return fault.Invalid.Errorf("document %s: already exists", d.ID())
	}
	return t.add(d, up, name, o)
}

// add creates a document in this order: identity first, so that listeners of aboutToCreate see it; then the
// listeners, which may still change properties; then the dates and contributors; then the checks, on what is
// to be stored.
func (t *Tx) add(d *Doc, up *Folder, name string, o SaveOptions) error {
	if err := t.setNode(d, up, name); err != nil {
		return err
	}
	if err := t.fire(Event{Name: "aboutToCreate", Doc: d}); err != nil {
		return err
	}
	t.touch(d, true)
	if err := t.insert(d, "create", Event{Name: "documentCreated", Doc: d, Comment: o.Comment, Source: o.Source}); err != nil {
		return err
	}
	return t.versionAfter(d, d, o)
}

// setNode gives a document that is being made its id, name and position.
func (t *Tx) setNode(d *Doc, up *Folder, name string) (err error) {
	if d.id, err = t.newDocID(); err != nil {
		return err
	}
	if name, err = t.repo.CleanName(name); err != nil {
		return err
	}
	if d.name, err = t.freeName(up.id, name); err != nil {
		return err
	}
	d.parent, d.up, d.parentPath, d.position = up.id, up, up.path, t.position()
	d.idText, d.path = "", ""
	return nil
}

// timedID returns a UUID that begins with the time (version 7). Rows of documents that are created together
// then lie together: the store sorts, merges and reads fewer of its blocks than with random ones. Such an
// identifier can be guessed, so it must not serve as a secret.
func timedID() string {
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.NewString()
	}
	return id.String()
}

func (t *Tx) newDocID() (layout.ID, error) {
	text := t.repo.newDocID()
	id, ok := layout.ParseID(text)
	if !ok || id == layout.None {
		return layout.None, fault.Internal.Errorf("document id %q: must be a UUID", text)
	}
	return id, nil
}

// insert writes a document that is new.
func (t *Tx) insert(d *Doc, kind string, e Event) error {
	// All fields are checked, also those nobody has set: required ones may be missing.
	if err := d.validate(func(*block, int) bool { return true }); err != nil {
		return err
	}
	if err := t.putRecord(nil, d); err != nil {
		return err
	}
	if err := t.putNode(nil, d); err != nil {
		return err
	}
	if err := t.reindex(nil, d); err != nil {
		return err
	}
	d.saved = true
	t.changed(Change{Kind: kind}, d)
	return t.fire(e)
}

// NewDocIn returns a document that does not exist, with default values and the name and
// place it is going to have; without parent it has no place yet.
func NewDocIn(t *Tx, parent *Doc, typeName, name string) (*Doc, error) {
	d, err := t.NewDoc(typeName)
	if err != nil {
		return nil, err
	}
	d.name = name
	if parent != nil {
		d.parent, d.up, d.parentPath = parent.id, nil, parent.Path()
	}
	return d, nil
}
