package resource

import (
	"strings"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
)

var create = engine.Op{
	Name:     "Resource.Create",
	Label:    "Create from Entity",
	Category: "Resource",
	Doc:      "Creates the document that a request describes in the input folder and returns it. Properties of schemas that its type does not have are ignored.",
	Callers:  engine.Anyone,
	Run:      engine.On(createParams.run),
}

type createParams struct {
	Document map[string]any `json:"document" type:"object" doc:"The document: entity-type, type, name and properties."`
	Base     string         `json:"base,omitzero" doc:"Address of the server, to recognize its own file addresses."`
	saving
}

func (p createParams) run(c *engine.Ctx, folder *storage.Doc) (*storage.Doc, error) {
	if err := checkEntity(p.Document); err != nil {
		return nil, err
	}
	typeName, _ := p.Document["type"].(string)
	name, _ := p.Document["name"].(string)
	// A slash separates the names of a path, so a name cannot hold one.
	name = strings.ReplaceAll(strings.TrimSpace(name), "/", "-")
	switch {
	case strings.TrimSpace(typeName) == "":
		return nil, fault.Invalid.Errorf("type: is missing").In("type")
	case name == "":
		return nil, fault.Invalid.Errorf("name: is missing").In("name")
	}
	d, err := c.Tx.NewDoc(typeName)
	if err != nil {
		return nil, err
	}
	if err := (entity{c: c, d: d, base: p.Base}).set(p.Document); err != nil {
		return nil, err
	}
	o, err := p.options()
	if err != nil {
		return nil, err
	}
	// Permissions, the types that the folder allows, and constraints of properties are checked
	// here, in storage.
	if err := c.Tx.Add(folder, d, name, o); err != nil {
		return nil, err
	}
	return p.answer(c, d)
}
