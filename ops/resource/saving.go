package resource

import (
	"catena/engine"
	"catena/storage"
)

// saving are the parameters that say how to save.
type saving struct {
	Comment    string `json:"comment,omitzero" doc:"Text for the audit record."`
	Source     string `json:"source,omitzero" doc:"Source of the change."`
	Versioning string `json:"versioning,omitzero" doc:"Version to create after saving, which is then returned: MINOR or MAJOR; NONE creates none."`
}

func (s saving) options() (o storage.SaveOptions, err error) {
	o.Comment, o.Source = s.Comment, s.Source
	o.Versioning, err = storage.ParseVersioning(s.Versioning)
	return o, err
}

// answer is the version that was asked for, or the document.
func (s saving) answer(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	how, err := storage.ParseVersioning(s.Versioning)
	// A type without versions ignores the request for one, and the document itself is the answer.
	if err != nil || how != storage.MinorVersion && how != storage.MajorVersion || !d.IsVersionable() {
		return d, err
	}
	return c.Tx.LastVersion(d)
}
