package version

import (
	"strings"

	"catena/engine"
	"catena/storage"
)

var checkIn = engine.Op{
	Name:     "Document.CheckIn",
	Label:    "Check In",
	Category: "Document",
	Doc: "Archives the state of the document as a new version and returns the document. A document that has not changed since its " +
		"last version is left unchanged.",
	Callers: engine.Anyone,
	Run:     engine.Each(checkInParams.run),
}

type checkInParams struct {
	Version  string `json:"version" values:"minor,major" doc:"Version number to increment: major, or anything else for minor."`
	Comment  string `json:"comment,omitzero" doc:"Text for the audit record."`
	Variable string `json:"versionVarName,omitzero" names:"variable" doc:"Context variable that receives the id of the new version, or of the last version if none was created."`
}

func (p checkInParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	v, err := c.Tx.CheckIn(d, strings.EqualFold(p.Version, "major"), p.Comment)
	if err != nil {
		return nil, err
	}
	if v != nil {
		return d, assign(c, p.Variable, v, v.Ref())
	}
	if p.Variable == "" {
		return d, nil
	}
	if v, err = c.Tx.LastVersion(d); err != nil {
		return nil, err
	}
	return d, assign(c, p.Variable, v, v)
}
