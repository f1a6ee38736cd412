package resource

import (
	"slices"

	"catena/engine"
	"catena/storage"
	"catena/storage/fault"
	"catena/storage/schema"
)

// entity reads the properties of a document as a request gives them.
type entity struct {
	c    *engine.Ctx
	d    *storage.Doc // whose schemas count and whose files stay
	base string       // address of the server; "" accepts file addresses of any host
}

func checkEntity(body map[string]any) error {
	if kind, _ := body["entity-type"].(string); kind != "document" {
		return fault.Invalid.Errorf("entity-type: document expected, not %q", kind).In("entity-type")
	}
	return nil
}

// properties returns what is to be set, by xpath, with files in the place of their
// descriptions.
func (e entity) properties(body map[string]any) (storage.Props, error) {
	given, ok := body["properties"].(map[string]any)
	if !ok && body["properties"] != nil {
		return nil, fault.Invalid.Errorf("properties: object expected").In("properties")
	}
	props := make(storage.Props, len(given))
	for xpath, value := range given {
		known, err := e.known(xpath)
		if err != nil {
			return nil, err
		}
		if !known {
			continue
		}
		field, err := e.d.FieldAt(xpath)
		if err != nil {
			return nil, err
		}
		value, stays, err := e.resolve(field, value, xpath)
		if err != nil {
			return nil, err
		}
		if !stays {
			props[xpath] = value
		}
	}
	return props, nil
}

// known reports whether the document has the schema an xpath belongs to.
func (e entity) known(xpath string) (bool, error) {
	path, err := schema.ParsePath(xpath)
	if err != nil || path.Prefix() == "" {
		return true, err
	}
	return slices.ContainsFunc(e.d.Schemas(), func(s *schema.Schema) bool {
		return s.Space() == path.Prefix() || s.Name == path.Prefix()
	}), nil
}
