package resource

import (
	"catena/engine"
	"catena/storage"
)

var update = engine.Op{
	Name:     "Resource.Update",
	Label:    "Update from Entity",
	Category: "Resource",
	Doc:      "Sets the properties a request gives for the document, and no others, and returns it. An outdated changeToken is refused.",
	Run:      engine.On(updateParams.run),
}

type updateParams struct {
	Document    map[string]any `json:"document" type:"object" doc:"The document: entity-type, properties and perhaps changeToken."`
	Base        string         `json:"base,omitzero" doc:"Address of the server, to know its own file addresses by."`
	ChangeToken string         `json:"changeToken,omitzero" doc:"Token of the state the change is based on; wins over the one in the document."`
	saving
}

func (p updateParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := checkEntity(p.Document); err != nil {
		return nil, err
	}
	if err := (entity{c: c, d: d, base: p.Base}).set(p.Document); err != nil {
		return nil, err
	}
	if p.ChangeToken == "" {
		p.ChangeToken, _ = p.Document["changeToken"].(string)
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	o.ChangeToken = p.ChangeToken
	if d, err = c.Tx.Save(d, o); err != nil {
		return nil, err
	}
	return p.answer(c, d)
}
