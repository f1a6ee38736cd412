package property

import (
	"catena/engine"
	"catena/storage"
)

var removeProperty = engine.Op{
	Name:     "Document.RemoveProperty",
	Label:    "Remove Property",
	Category: "Document",
	Doc:      "Clears a property: a list is emptied, a list item is removed from its list, any other property is unset.",
	Callers:  engine.Anyone,
	Run:      engine.Each(removePropertyParams.run),
}

type removePropertyParams struct {
	Xpath string `json:"xpath" names:"xpath" doc:"Xpath of the property or of one item of a list."`
	Save  bool   `json:"save" default:"true" values:"true" doc:"Save the document immediately."`
}

func (p removePropertyParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	// It changes the document in memory only; the right to write it is checked when it is saved.
	if err := d.Remove(p.Xpath); err != nil {
		return nil, err
	}
	return keep(c, d, p.Save)
}
