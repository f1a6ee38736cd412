package resource

import (
	"catena/engine"
	"catena/storage"
)

var update = engine.Op{
	Name:     "Resource.Update",
	Label:    "Update from Entity",
	Category: "Resource",
	Doc:      "Sets the properties given in a request on the document, and no others, and returns it. An outdated changeToken is refused.",
	Callers:  engine.Anyone,
	Run:      engine.On(updateParams.run),
}

type updateParams struct {
	Document    map[string]any `json:"document" type:"object" doc:"The document: entity-type, properties and optionally changeToken."`
	Base        string         `json:"base,omitzero" doc:"Address of the server, to recognize its own file addresses."`
	ChangeToken string         `json:"changeToken,omitzero" doc:"Change token of the version that the change is based on; overrides the one in the document."`
	saving
}

func (p updateParams) run(c *engine.Ctx, d *storage.Doc) (*storage.Doc, error) {
	if err := checkEntity(p.Document); err != nil {
		return nil, err
	}
	if err := (entity{c: c, d: d, base: p.Base}).set(p.Document); err != nil {
		return nil, err
	}
	// The parameter takes precedence over the member of the body. Without either, the last writer
	// wins.
	if p.ChangeToken == "" {
		p.ChangeToken, _ = p.Document["changeToken"].(string)
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	// Compared in the transaction that writes, so no change can come in between.
	o.ChangeToken = p.ChangeToken
	if d, err = c.Tx.Save(d, o); err != nil {
		return nil, err
	}
	return p.answer(c, d)
}
