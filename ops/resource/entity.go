package resource

import (
	"maps"
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
		return fault.Invalid.Errorf("entity-type: must be document, not %q", kind).In("entity-type")
	}
	return nil
}

// set sets the properties in the body on the document.
func (e entity) set(body map[string]any) error {
	given, ok := body["properties"].(map[string]any)
	if !ok && body["properties"] != nil {
		return fault.Invalid.Errorf("properties: must be an object").In("properties")
	}
	return e.setAll(given)
}

// setAll sets properties in the order of their xpaths, with files in place of their
// descriptions. Those of schemas that the document does not have are left out.
func (e entity) setAll(given map[string]any) error {
	// Room on the stack for the properties of most requests, which saves an allocation for each.
	var room [32]string
	xpaths := slices.AppendSeq(room[:0], maps.Keys(given))
	slices.Sort(xpaths)
	for _, xpath := range xpaths {
		field, err := e.d.FieldAt(xpath)
		// A client may send one entity to documents of several types. Within a schema that the
		// document has, an unknown field is an error.
		if err != nil && e.foreign(xpath) {
			continue
		}
		if err != nil {
			return err
		}
		// A property that stays is not set at all, so it does not count as changed.
		value, stays, err := e.resolve(field, given[xpath], xpath)
		if err == nil && !stays {
			err = e.d.Set(xpath, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// foreign reports whether an xpath is of a schema that the document does not have.
// An xpath that cannot be parsed is never foreign, so the error of FieldAt about it is reported.
func (e entity) foreign(xpath string) bool {
	path, err := schema.ParsePath(xpath)
	return err == nil && path.Prefix() != "" && !slices.ContainsFunc(e.d.Schemas(), func(s *schema.Schema) bool {
		return s.Space() == path.Prefix() || s.Name == path.Prefix()
	})
}
