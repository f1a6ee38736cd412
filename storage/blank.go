package storage

// BlankIn returns a document that does not exist, with default values and the name and
// place it is going to have; without parent it has no place yet.
func (t *Tx) BlankIn(parent *Doc, typeName, name string) (*Doc, error) {
	d, err := t.Blank(typeName)
	if err != nil {
		return nil, err
	}
	d.name = name
	if parent != nil {
		d.parent, d.up, d.parentPath = parent.id, nil, parent.Path()
	}
	return d, nil
}
