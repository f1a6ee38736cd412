package storage

// Change is one effect of a transaction, as a dry run lists it.
type Change struct {
	Kind string `json:"kind"` // create, update, delete, move, copy, lock, unlock, acl, lifecycle, version, job, audit, record
	ID   string `json:"id,omitempty"`
	Path string `json:"path,omitempty"`
	Type string `json:"type,omitempty"`
	Note string `json:"note,omitempty"` // e.g. the changed xpaths, the job's kind
}

// Record has the transaction collect its changes from here on.
func (t *Tx) Record() { t.record = true }

// Changes returns what the transaction has changed since Record, in order, coalesced by document.
func (t *Tx) Changes() []Change { return append([]Change(nil), t.changes...) }

// Changed notes an effect on something other than a document.
func (t *Tx) Changed(kind, note string) { t.changed(Change{Kind: kind, Note: note}, nil) }

// changed notes a change of a document. Updates of what the transaction itself created, and a second
// change of the same kind, are part of the first.
func (t *Tx) changed(c Change, d *Doc) {
	if !t.record {
		return
	}
	if d != nil {
		c.ID, c.Path, c.Type = d.ID(), d.Path(), d.typ.Name
		for i := len(t.changes) - 1; i >= 0; i-- {
			o := &t.changes[i]
			if o.ID != c.ID {
				continue
			}
			made := o.Kind == "create" || o.Kind == "copy"
			switch {
			case made && c.Kind == "delete":
				t.changes = append(t.changes[:i], t.changes[i+1:]...)
				return
			case made && c.Kind != "acl" && c.Kind != "lock" && c.Kind != "unlock":
				o.Path = c.Path
				return
			case o.Kind == c.Kind:
				if o.Note != c.Note {
					o.Note = joinNotes(o.Note, c.Note)
				}
				o.Path = c.Path
				return
			}
		}
	}
	t.changes = append(t.changes, c)
}

func joinNotes(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}
