package resource

import (
	"slices"
	"strconv"

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

// resolve puts files in the place of their descriptions within a value. A description that
// names no content stays what it was before.
func (e entity) resolve(f *schema.Field, value any, at string) (out any, stays bool, err error) {
	switch v := value.(type) {
	case []any:
		if !f.List {
			return value, false, nil
		}
		items := make([]any, len(v))
		for i, item := range v {
			place := at + "/" + strconv.Itoa(i)
			if items[i], err = e.part(f.Item(), item, place); err != nil {
				return nil, false, err
			}
		}
		return items, false, nil
	case map[string]any:
		if f.List {
			return value, false, nil
		}
		if f.Kind == schema.Blob {
			return e.file(v)
		}
		if f.Kind == schema.Complex {
			out, err = e.complex(f, v, at)
			return out, false, err
		}
	}
	return value, false, nil
}

func (e entity) complex(f *schema.Field, v map[string]any, at string) (any, error) {
	parts := make(map[string]any, len(v))
	for name, part := range v {
		sub := f.Sub(name)
		if sub == nil {
			parts[name] = part
			continue
		}
		resolved, err := e.part(sub, part, at+"/"+name)
		if err != nil {
			return nil, err
		}
		parts[name] = resolved
	}
	return parts, nil
}

// part resolves what is inside another value, where a file that stays must be put again.
func (e entity) part(f *schema.Field, value any, at string) (any, error) {
	out, stays, err := e.resolve(f, value, at)
	if err != nil || !stays {
		return out, err
	}
	if b, err := e.d.Blob(at); err == nil && b != nil {
		return b, nil
	}
	return nil, nil
}
